// Hashes of values under a salt: two of them, under salts that are drawn, tell values apart where
// these themselves can't be kept.
#pragma once

#include <cstdint>

#include "core/value.h"

namespace koios {

// Agrees with Equivalent; under salt 0 it is EquivalenceHash. Pure, bounded by kMaxValueDepth.
uint64_t SaltedHash(const Value& v, uint64_t salt);

}  // namespace koios
