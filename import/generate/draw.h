// Draws of generated graphs. Everything is a function of (seed, number of the thing), so a
// generator keeps no state per vertex, and the same seed gives the same bytes on every machine:
// only integers and IEEE additions and multiplications, no library functions that differ in the
// last digit.
#pragma once

#include <cstdint>
#include <numeric>

#include "core/random.h"

namespace koios::import {

// The generator of one thing: kind tells kinds of things apart.
inline Rng DrawsOf(uint64_t seed, uint64_t kind, uint64_t number) {
  return Rng(MixSeeds(MixSeeds(seed, kind), number));
}

// A count with a tail like x^-2.5 and about this mean: a level k with probability 0.354^k, then
// uniform in [m 2^k, m 2^(k+1)). At most `most`.
inline uint64_t DrawPowerLaw(Rng* rng, double mean, uint64_t most) {
  constexpr double kStay = 0.35355339059327;  // 2^-1.5
  constexpr double kMeanOfUnit = 3.31066;     // of the distribution for m = 1
  double size = mean / kMeanOfUnit;
  while (rng->Chance(kStay) && size < static_cast<double>(most)) size *= 2;
  const double drawn = size * (1 + rng->Double());
  // The fraction decides by chance, so that small means are kept.
  uint64_t count = static_cast<uint64_t>(drawn);
  if (rng->Chance(drawn - static_cast<double>(count))) ++count;
  return count < most ? count : most;
}

// A rank in [0, n) that prefers low ones: the range is halved with probability 0.6, again and
// again.
inline uint64_t DrawPopular(Rng* rng, uint64_t n) {
  constexpr double kHalve = 0.6;
  uint64_t range = n;
  while (range > 1 && rng->Chance(kHalve)) range = (range + 1) / 2;
  return rng->Uniform(range);
}

// A permutation of [0, n): spreads ranks and planted groups over the numbers.
class Spread {
 public:
  Spread(uint64_t n, uint64_t seed) : n_(n), shift_(MixSeeds(seed, n) % n) {
    factor_ = static_cast<uint64_t>(static_cast<double>(n) * 0.6180339887498949) | 1;
    while (std::gcd(factor_, n_) != 1) factor_ += 2;
  }
  uint64_t At(uint64_t i) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(i) * factor_ + shift_) % n_);
  }

 private:
  uint64_t n_;
  uint64_t factor_;
  uint64_t shift_;
};

}  // namespace koios::import
