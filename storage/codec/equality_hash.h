// EqualityHash: what an index of property values and a guarded look-up know of a value. Values that
// Gremlin calls equal have one hash (1, 1L and 1.0 do); unequal ones may share one, so whoever
// finds something by it must still compare. Stands on disk: never change it.
#pragma once

#include <cstdint>

#include "core/value.h"

namespace koios::storage {

// Collections and maps have all the same hash: their members are equal across types of numbers.
uint64_t EqualityHash(const Value& value);

}  // namespace koios::storage
