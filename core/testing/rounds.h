// How many rounds a test runs: a sanitizer takes several times as long, and what it looks for shows
// in few of them. Included by tests only.
#pragma once

#include <cstdint>

namespace koios {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// `rounds`, or `sanitized` under a sanitizer.
constexpr uint64_t TestRounds(uint64_t rounds, uint64_t sanitized) {
  return kSanitized ? sanitized : rounds;
}

}  // namespace koios
