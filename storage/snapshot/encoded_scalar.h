// EncodedScalar: a value that a typed column can hold, read from its encoding without making a
// Value; and what columns know of kinds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/value.h"

namespace koios::storage {

struct EncodedScalar {
  ValueKind kind = ValueKind::kNull;
  int64_t integer = 0;    // bool and integers
  double real = 0;        // kFloat, kDouble
  std::string_view text;  // kString, kBinary
  DateTime date_time;
  Uuid uuid;
};

// Takes one off the front of *encoded (core/value_codec.h). False, with *encoded unspecified: it is
// of a kind without columns of its own, or damaged.
bool ReadScalar(std::string_view* encoded, EncodedScalar* out);
// The whole is a list of which `use(item, its bytes)` gets each; false: it is no list of scalars.
template <typename Use>
bool ForEachScalar(std::string_view list, const Use& use);
// The number of items; *encoded begins with the first.
bool ReadListHead(std::string_view* encoded, uint64_t* count);

// Bytes of a value in a column of fixed width; 0: a bit; nullopt: the kind has no such columns.
// Date-times have 8 when all are whole milliseconds with one offset.
std::optional<uint8_t> FixedWidthOf(ValueKind kind);
// Strings and binaries stand in heaps as they are.
inline bool IsText(ValueKind kind) {
  return kind == ValueKind::kString || kind == ValueKind::kBinary;
}

// Rounded down; nullopt: out of range.
std::optional<int64_t> MillisOf(const DateTime& when);
DateTime DateTimeOfMillis(int64_t millis, int32_t offset_seconds);

template <typename Use>
bool ForEachScalar(std::string_view list, const Use& use) {
  uint64_t count = 0;
  if (!ReadListHead(&list, &count)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string_view before = list;
    EncodedScalar item;
    if (!ReadScalar(&list, &item)) return false;
    use(item, before.substr(0, before.size() - list.size()));
  }
  return list.empty();
}

}  // namespace koios::storage
