// Seeded randomness: the same seed gives the same numbers on every machine and version, which
// replayed simulations, generated graphs and per-row choices (coin, sample) rely on.
// Never for secrets. An Rng belongs to one thread.
#pragma once

#include <cstdint>

namespace koios {

// The next number of a SplitMix64 sequence (Steele, Lea, Flood: "Fast splittable pseudorandom
// number generators", 2014).
constexpr uint64_t SplitMix64(uint64_t* state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// A seed that depends on both: (query seed, row) for a choice that does not depend on the worker.
constexpr uint64_t MixSeeds(uint64_t a, uint64_t b) {
  uint64_t state = a;
  state = SplitMix64(&state) ^ b;
  return SplitMix64(&state);
}

// xoshiro256++ (Blackman, Vigna: "Scrambled linear pseudorandom number generators", 2021).
class Rng {
 public:
  explicit Rng(uint64_t seed);

  uint64_t Next();
  // Uniform in [0, n). REQUIRES: n > 0.
  uint64_t Uniform(uint64_t n);
  // Uniform in [0, 1), 53 bits.
  double Double() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  bool Chance(double probability) { return Double() < probability; }
  // An independent generator; advances this one.
  Rng Fork() { return Rng(Next()); }

 private:
  uint64_t state_[4];
};

// An Rng as the standard library's algorithms and distributions take one.
struct RandomBits {
  using result_type = uint64_t;
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return UINT64_MAX; }
  uint64_t operator()() { return rng->Next(); }
  Rng* rng;
};

}  // namespace koios
