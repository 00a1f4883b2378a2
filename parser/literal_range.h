// Ranges of literals, 1..5 and 'a'..'e': lists, with both ends, up or down.
#pragma once

#include <cstdint>

#include "core/status.h"
#include "core/value.h"

namespace koios::parser {

// What the ranges of one text may still make: a few characters stand for many members.
struct RangeRoom {
  uint64_t max_members = 0;  // setting query-max-list
  uint64_t max_bytes = 0;    // of strings; setting query-max-text
  uint64_t members = 0;
  uint64_t bytes = 0;
};

// Ints, or strings that differ in their last character only; two empty strings make an empty list.
// INVALID_ARGUMENT for other ends, RESOURCE_EXHAUSTED past the room, which then stays as it was.
StatusOr<Value> RangeOf(const Value& first, const Value& last, RangeRoom* room);

}  // namespace koios::parser
