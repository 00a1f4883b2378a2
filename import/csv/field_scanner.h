// FieldScanner: finds delimiters, line breaks and quotes in a chunk, 64 bytes at a time: one
// comparison of vectors per kind gives a mask, of which the next set bit is the next place. AVX2
// where the processor has it, SSE2 or plain code elsewhere; all find the same. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace koios::import {

enum class ScanLevel : uint8_t { kPlain, kSse2, kAvx2 };
// The best that this processor has.
ScanLevel BestScanLevel();

class FieldScanner {
 public:
  FieldScanner(std::string_view bytes, char delimiter, std::optional<char> quote,
               ScanLevel level = BestScanLevel());

  // The first place at or behind `at` of a delimiter or line break, of a quote; size() if none.
  size_t NextEnd(size_t at) { return Next<&FieldScanner::ends_>(at); }
  size_t NextQuote(size_t at) { return Next<&FieldScanner::quotes_>(at); }

 private:
  static constexpr size_t kBlockBytes = 64;
  static constexpr size_t kNoBlock = ~size_t{0};

  template <uint64_t FieldScanner::*Mask>
  size_t Next(size_t at) {
    for (size_t block = at / kBlockBytes; block * kBlockBytes < bytes_.size(); ++block) {
      if (block != block_) Load(block);
      uint64_t mask = this->*Mask;
      if (block == at / kBlockBytes) mask &= ~uint64_t{0} << (at % kBlockBytes);
      if (mask != 0) return block * kBlockBytes + static_cast<size_t>(__builtin_ctzll(mask));
    }
    return bytes_.size();
  }
  void Load(size_t block);

  const std::string_view bytes_;
  const char delimiter_;
  const char quote_;  // a line break when there is none: never asked for
  const ScanLevel level_;
  size_t block_ = kNoBlock;
  uint64_t ends_ = 0, quotes_ = 0;  // of block_
};

}  // namespace koios::import
