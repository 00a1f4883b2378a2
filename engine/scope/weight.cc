#include "engine/scope/weight.h"

#include <bit>

#include "core/status.h"

namespace koios::engine {

bool WeightSum::AddOne(uint32_t k) {
  size_t word = k / 64;
  uint64_t bit = uint64_t{1} << (k % 64);
  if (word >= words_.size()) words_.resize(word + 1, 0);
  // 2^-k + 2^-k = 2^-(k-1): the carry goes towards smaller exponents.
  while ((words_[word] & bit) != 0) {
    words_[word] &= ~bit;
    if (k == 0) return false;
    --k;
    word = k / 64;
    bit = uint64_t{1} << (k % 64);
  }
  words_[word] |= bit;
  return true;
}

bool WeightSum::TryAdd(uint32_t k, uint32_t count) {
  // count * 2^-k as a sum of powers: bit b of count stands for 2^-(k-b).
  for (uint32_t b = 0; count != 0; ++b, count >>= 1) {
    if ((count & 1) == 0) continue;
    if (k < b || !AddOne(k - b)) return false;
  }
  return true;
}

void WeightSum::Add(uint32_t k, uint32_t count) { CHECK(TryAdd(k, count)); }

void WeightSum::Add(const WeightSum& other) {
  for (uint32_t k : other.Pieces()) CHECK(AddOne(k));
}

bool WeightSum::IsZero() const {
  for (uint64_t word : words_) {
    if (word != 0) return false;
  }
  return true;
}

std::vector<uint32_t> WeightSum::Pieces() const {
  std::vector<uint32_t> pieces;
  for (size_t word = 0; word < words_.size(); ++word) {
    for (uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) {
      pieces.push_back(static_cast<uint32_t>(word * 64 + std::countr_zero(bits)));
    }
  }
  return pieces;
}

uint32_t WeightPool::Take() {
  if (left_ == 1) {
    if (log_parts_ < 30) ++log_parts_;
    k_ += log_parts_;
    left_ = uint32_t{1} << log_parts_;
  }
  --left_;
  return k_;
}

ExactSplit SplitWeight(uint32_t k, uint32_t m) {
  CHECK(m >= 1);
  if (m == 1) return {k, 1};
  const uint32_t d = static_cast<uint32_t>(std::bit_width(m - 1));
  const uint32_t r = (uint32_t{1} << d) - m;
  return {k + d - 1, r};
}

}  // namespace koios::engine
