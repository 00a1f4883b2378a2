// CallSize: how much an operator asks of the graph in one call, so that a call is over when a slice
// is: less where the last one took long, more where it did not. Reads of records take many times
// what those of a snapshot take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/clock.h"

namespace koios::engine {

class CallSize {
 public:
  static constexpr int64_t kLongNanos = 350'000;  // of two fifths of it and more none grows

  // REQUIRES: 0 < least <= first <= most.
  CallSize(size_t least, size_t first, size_t most) : least_(least), most_(most), size_(first) {}

  size_t size() const { return size_; }

  // What `read`, a call that asked for that much or less, returns.
  template <typename Read>
  auto Measure(const Clock& clock, const Read& read) {
    const int64_t begin = clock.NowNanos();
    auto result = read();
    const int64_t took = clock.NowNanos() - begin;
    if (took > kLongNanos) {
      size_ = std::max(least_, size_ / 2);
    } else if (took < kLongNanos * 2 / 5) {
      size_ = std::min(most_, size_ * 2);
    }
    return result;
  }

 private:
  const size_t least_, most_;
  size_t size_;
};

// Ends that are counted in one call, at most: a snapshot knows how many most vertices have, of
// records each is read.
inline constexpr size_t kCountedEnds = size_t{1} << 18;
inline CallSize CountedInACall() { return {64, 1024, kCountedEnds}; }

}  // namespace koios::engine
