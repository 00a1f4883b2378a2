// Weights (DESIGN 5.3): each instance starts with weight 1 at its home; runs carry 2^-k; what comes
// home is added up exactly. The instance is quiescent exactly when the sum is 1 again.
// Source: weight throwing / credit recovery (Mattern 1989), with dyadic weights kept as exponents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"

namespace koios::engine {

// A sum of dyadic weights <= 1, as a binary fraction: bit k stands for 2^-k. Grows with the largest
// k.
class WeightSum {
 public:
  // Adds `count` pieces of 2^-k. REQUIRES: the sum stays <= 1 (a broken invariant otherwise).
  void Add(uint32_t k, uint32_t count = 1);
  void Add(const WeightSum& other);
  // False when the sum would pass 1; it is worth nothing then. For what came from outside.
  [[nodiscard]] bool TryAdd(uint32_t k, uint32_t count = 1);
  bool IsOne() const { return !words_.empty() && (words_[0] & 1) != 0; }
  bool IsZero() const;
  void Clear() { words_.clear(); }
  // The exponents of the pieces, ascending.
  std::vector<uint32_t> Pieces() const;
  size_t ByteSize() const { return words_.capacity() * sizeof(uint64_t); }

 private:
  bool AddOne(uint32_t k);

  // Bit k of the fraction is bit k % 64 of word k / 64. Few weights are smaller than two words
  // hold.
  absl::InlinedVector<uint64_t, 2> words_;
};

// What is left of a run's weight while a cursor that does not know its number of outputs takes
// pieces: what is left is divided into 2, 4, 8, ... parts, so that k grows with the square root of
// twice the logarithm of the number of outputs (189 after 10^6), not with their number.
class WeightPool {
 public:
  explicit WeightPool(uint32_t k = 0) : k_(k) {}
  // One piece; something is always left.
  uint32_t Take();
  // What is left: `left()` pieces of 2^-k().
  uint32_t k() const { return k_; }
  uint32_t left() const { return left_; }

 private:
  uint32_t k_;
  uint32_t left_ = 1;
  uint32_t log_parts_ = 0;
};

// Splits 2^-k exactly into m parts: r parts get the exponent `low_k`, the m - r others `low_k + 1`.
struct ExactSplit {
  uint32_t low_k;
  uint32_t num_low;
};
ExactSplit SplitWeight(uint32_t k, uint32_t m);

}  // namespace koios::engine
