#include "core/random.h"

#include <bit>

#include "core/status.h"

namespace koios {

Rng::Rng(uint64_t seed) {
  for (uint64_t& word : state_) word = SplitMix64(&seed);
}

uint64_t Rng::Next() {
  const uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

// Lemire, "Fast random integer generation in an interval", 2019.
uint64_t Rng::Uniform(uint64_t n) {
  DCHECK(n > 0);
  using Wide = unsigned __int128;
  Wide product = Wide{Next()} * n;
  if (static_cast<uint64_t>(product) < n) {
    const uint64_t threshold = (0 - n) % n;
    while (static_cast<uint64_t>(product) < threshold) product = Wide{Next()} * n;
  }
  return static_cast<uint64_t>(product >> 64);
}

}  // namespace koios
