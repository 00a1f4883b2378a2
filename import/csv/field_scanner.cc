#include "import/csv/field_scanner.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace koios::import {
namespace {

struct Masks {
  uint64_t ends = 0, quotes = 0;
};

Masks ScanPlain(const char* block, char delimiter, char quote) {
  Masks masks;
  for (int i = 0; i < 64; ++i) {
    const bool ends = block[i] == delimiter || block[i] == '\n';
    masks.ends |= uint64_t{ends} << i;
    masks.quotes |= uint64_t{block[i] == quote} << i;
  }
  return masks;
}

#if defined(__x86_64__)
Masks ScanSse2(const char* block, char delimiter, char quote) {
  const __m128i delimiters = _mm_set1_epi8(delimiter), lines = _mm_set1_epi8('\n'),
                quotes = _mm_set1_epi8(quote);
  Masks masks;
  for (int i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i);
    const __m128i ends =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, delimiters), _mm_cmpeq_epi8(bytes, lines));
    const auto end_bits = static_cast<uint32_t>(_mm_movemask_epi8(ends));
    const auto quote_bits = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quotes)));
    masks.ends |= uint64_t{end_bits} << (16 * i);
    masks.quotes |= uint64_t{quote_bits} << (16 * i);
  }
  return masks;
}

__attribute__((target("avx2"))) Masks ScanAvx2(const char* block, char delimiter, char quote) {
  const __m256i delimiters = _mm256_set1_epi8(delimiter), lines = _mm256_set1_epi8('\n'),
                quotes = _mm256_set1_epi8(quote);
  Masks masks;
  for (int i = 0; i < 2; ++i) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block) + i);
    const __m256i ends =
        _mm256_or_si256(_mm256_cmpeq_epi8(bytes, delimiters), _mm256_cmpeq_epi8(bytes, lines));
    const auto end_bits = static_cast<uint32_t>(_mm256_movemask_epi8(ends));
    const auto quote_bits =
        static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, quotes)));
    masks.ends |= uint64_t{end_bits} << (32 * i);
    masks.quotes |= uint64_t{quote_bits} << (32 * i);
  }
  return masks;
}
#endif

Masks Scan(ScanLevel level, const char* block, char delimiter, char quote) {
#if defined(__x86_64__)
  switch (level) {
    case ScanLevel::kPlain:
      break;
    case ScanLevel::kSse2:
      return ScanSse2(block, delimiter, quote);
    case ScanLevel::kAvx2:
      return ScanAvx2(block, delimiter, quote);
  }
#else
  static_cast<void>(level);
#endif
  return ScanPlain(block, delimiter, quote);
}

}  // namespace

ScanLevel BestScanLevel() {
#if defined(__x86_64__)
  static const ScanLevel kBest =
      __builtin_cpu_supports("avx2") ? ScanLevel::kAvx2 : ScanLevel::kSse2;
  return kBest;
#else
  return ScanLevel::kPlain;
#endif
}

FieldScanner::FieldScanner(std::string_view bytes, char delimiter, std::optional<char> quote,
                           ScanLevel level)
    : bytes_(bytes), delimiter_(delimiter), quote_(quote.value_or('\n')), level_(level) {}

void FieldScanner::Load(size_t block) {
  block_ = block;
  const size_t begin = block * kBlockBytes;
  Masks masks;
  if (bytes_.size() - begin >= kBlockBytes) {
    masks = Scan(level_, bytes_.data() + begin, delimiter_, quote_);
  } else {
    // The last block, whatever stands behind it left out.
    const size_t size = bytes_.size() - begin;
    char last[kBlockBytes] = {};
    std::memcpy(last, bytes_.data() + begin, size);
    masks = Scan(level_, last, delimiter_, quote_);
    const uint64_t there = (uint64_t{1} << size) - 1;
    masks.ends &= there;
    masks.quotes &= there;
  }
  ends_ = masks.ends;
  quotes_ = masks.quotes;
}

}  // namespace koios::import
