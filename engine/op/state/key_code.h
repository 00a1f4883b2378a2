// KeyCode: what stands for a key of dedup() on disk, 16 bytes for each. What is a number is itself,
// under its kind: vertices, edges, integers, reals. What is not is 127 bits of a hash under a seed
// that is drawn for the operator: of 10^9 such keys two have the same one with a probability of
// 3e-21, and nobody who does not know the seed can choose them so.
#pragma once

#include <xxhash.h>

#include <compare>
#include <cstdint>
#include <string_view>

#include "core/value.h"
#include "core/value_salt.h"

namespace koios::engine {

struct KeyCode {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const KeyCode&) const = default;
};

// As kinds are small, no number's code is that of anything else.
inline constexpr uint64_t kHashedKey = uint64_t{1} << 63;

inline KeyCode CodeOfNumber(ValueKind kind, uint64_t bits) {
  return {static_cast<uint64_t>(kind), bits};
}
inline KeyCode CodeOfText(std::string_view text, uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(text.data(), text.size(), seed);
  return {hash.high64 | kHashedKey, hash.low64};
}
// Agrees with Equivalent.
inline KeyCode CodeOfValue(const Value& value, uint64_t seed) {
  return {SaltedHash(value, ~seed) | kHashedKey, SaltedHash(value, seed)};
}

}  // namespace koios::engine
