// EqualityHash: what a table of values knows of a value. Values that Gremlin calls equal have one
// hash, whatever their kinds; unequal ones may share one, so whoever finds something by it must
// still compare. Equality is not transitive among numbers: the integers 16777216 and 16777217 both
// equal 16777216.0f, so the three have one hash. Pure, any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "core/value.h"

namespace koios::storage {

// Collections and maps have all the same hash: their members are equal across types of numbers.
uint64_t EqualityHash(const Value& value);

// For those who can't compare. Two values that are equal have one of these in common, and hardly
// ever two that are not. It is one, but for a float: that has one for each double, decimal and
// integer that equals it, which are two at most below 2^24, and 130 above.
void AppendEqualityHashes(const Value& value, std::vector<uint64_t>* out);

}  // namespace koios::storage
