// What tells most values of one kind apart in the total order: 64 bits instead of a look at both
// values (abbreviated keys, as PostgreSQL's tuplesort has them). Pure, any thread.
#pragma once

#include <cstdint>

#include "core/value.h"

namespace koios {

// As unsigned numbers in the order of the doubles, -0.0 before 0.0. REQUIRES: not NaN.
uint64_t OrderedBits(double number);

struct OrderPrefix {
  enum class Kind : uint8_t { kNone, kNumber, kText, kDateTime };
  Kind kind = Kind::kNone;
  uint64_t bits = 0;
};

// Of two values whose prefixes are of one kind, where a's bits are less TotalOrder(a, b) is less;
// where they are equal it decides. kNone: the value has no such prefix, 0.
OrderPrefix OrderPrefixOf(const Value& value);

}  // namespace koios
