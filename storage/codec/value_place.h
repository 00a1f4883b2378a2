// The place of a property's value among all values: bytes that order as Gremlin compares, so that a
// range of values is a range of keys of an index. Numbers of all types are one line (1, 1L and 1.0
// have one place); strings, date-times and the rest stand in ranges of their own, as they are not
// comparable with each other. Stands on disk: never change a place, never renumber a tag.
//
// A place may be coarser than the value, never finer: values that Gremlin calls equal may have
// different ones only as PlacesOf() says, others may share one, and of two that compare the lesser
// is never behind. So whoever finds something by it must still compare. Coarse are: numbers, which
// stand at the nearest double; strings and binaries of more than kMaxPlacedBytes; and lists, sets,
// maps and NaN, which all have the same place.
#pragma once

#include <string>
#include <string_view>

#include "core/value.h"

namespace koios::storage {

// Of a string or binary; the rest does not count.
inline constexpr size_t kMaxPlacedBytes = 128;

// Places stand one behind the other in an entry: none begins with another one.
void AppendPlace(const Value& value, std::string* out);
// Of a property that a vertex lacks.
void AppendNoPlace(std::string* out);

// From `first` to `last`, both included, stand all values of the kind `stored` (kNull: of any) that
// may be equal to a sought one. It is one place, but where floats meet integers or decimals:
// 16777217 equals 16777216.0f, and 0.1m equals 0.1f.
struct Places {
  std::string first, last;
};
Places PlacesOf(const Value& sought, ValueKind stored = ValueKind::kNull);

// What begins the places of all values that compare with `value`.
std::string_view PlaceTag(const std::string& place);

// What begins the places of all strings that begin so; of a long one perhaps of others, too.
std::string PrefixOfPlaces(std::string_view text);

// Whether values of the kind `stored` (kNull: of any) that stand at the place of `bound` are
// neither less nor greater than it, so that they are out of a range that ends before or begins
// behind it.
bool PlaceIsExact(const Value& bound, ValueKind stored);

}  // namespace koios::storage
