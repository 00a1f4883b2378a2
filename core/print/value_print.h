// Values as text: as the Gremlin Console prints them, and as plain JSON. Pure, any thread.
// Internal references print by their bits (v[#12]): turn them into elements before users see them.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "core/value.h"

namespace koios {

struct PrintOptions {
  // Longer output is cut at a code point and ends in "...".
  size_t max_bytes = std::numeric_limits<size_t>::max();
};

// 1, 1.0, marko, null, v[1], e[7][1-knows->2], vp[name->marko], p[weight->0.5], [a,b],
// [name:[marko],age:[29]], [:], id (of T.id), 2023-08-01T00:00Z. Strings as they are.
std::string PrintValue(const Value& value, const PrintOptions& options = {});

// Appends one JSON value without line breaks. Maps whose keys are all strings are objects, others
// are [[key,value],...]; elements are objects with "id" and "label"; NaN and infinities, dates and
// uuids are strings; binary is base64. Ill-formed UTF-8 becomes U+FFFD.
void PrintJson(const Value& value, std::string* out);

}  // namespace koios
