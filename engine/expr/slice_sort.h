// SliceSort: sorts numbers by a strict order, stably, so much work at a time that its caller can
// look at deadlines and other queries in between: short runs first, then merged in pairs (bottom-up
// merge sort, Knuth 5.2.4). Owned by one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace koios::engine {

class SliceSort {
 public:
  // Bytes that sorting one number takes.
  static constexpr int64_t kBytes = 2 * sizeof(uint32_t);

  // The numbers from 0 to size - 1. `wide`: one comparison is work enough that runs of some of
  // them are too much for one call.
  void Begin(size_t size, bool wide = false) {
    order_.clear();
    merged_.clear();
    order_.reserve(size);
    merged_.reserve(size);
    size_ = size;
    width_ = wide ? 1 : 0;
  }

  // About `*work` comparisons; what is left of it comes back, 0 unless all is sorted. True: sorted.
  // `less` must be the same in all calls; it may take more of the work for what costs more.
  template <typename Less>
  bool Step(const Less& less, size_t* work) {
    if (order_.size() < size_ && !Fill(work)) return false;
    while (width_ < size_) {
      if (width_ == 0 ? !SortRuns(less, work) : !MergePairs(less, work)) return false;
      if (width_ > 0) order_.swap(merged_);
      width_ = width_ == 0 ? kRun : 2 * width_;
      BeginPair(0);
    }
    return true;
  }

  const std::vector<uint32_t>& order() const { return order_; }

 private:
  static constexpr size_t kRun = 32;
  static constexpr size_t kRunWork = 5 * kRun;

  // Writing so many numbers is as much work as a comparison.
  static constexpr size_t kFilled = 16;

  bool Fill(size_t* work) {
    const size_t begin = order_.size();
    const size_t count = std::min(size_ - begin, kFilled * *work);
    order_.resize(begin + count);
    merged_.resize(begin + count);
    std::iota(order_.begin() + static_cast<std::ptrdiff_t>(begin), order_.end(),
              static_cast<uint32_t>(begin));
    *work -= (count + kFilled - 1) / kFilled;
    if (order_.size() < size_) return false;
    BeginPair(0);
    return true;
  }

  template <typename Less>
  bool SortRuns(const Less& less, size_t* work) {
    for (; begin_ < order_.size(); begin_ += kRun) {
      if (*work == 0) return false;
      const auto first = order_.begin() + static_cast<std::ptrdiff_t>(begin_);
      const size_t size = std::min(kRun, order_.size() - begin_);
      std::stable_sort(first, first + static_cast<std::ptrdiff_t>(size), less);
      *work -= std::min(*work, kRunWork);
    }
    return true;
  }

  template <typename Less>
  bool MergePairs(const Less& less, size_t* work) {
    while (begin_ < order_.size()) {
      const size_t middle = std::min(begin_ + width_, order_.size());
      const size_t end = std::min(begin_ + 2 * width_, order_.size());
      for (size_t out = left_ + (right_ - middle); out < end; ++out) {
        if (*work == 0) return false;
        --*work;
        const bool from_left =
            right_ == end || (left_ < middle && !less(order_[right_], order_[left_]));
        merged_[out] = order_[from_left ? left_++ : right_++];
      }
      BeginPair(end);
    }
    return true;
  }

  void BeginPair(size_t begin) {
    begin_ = begin;
    left_ = begin;
    right_ = std::min(begin + width_, order_.size());
  }

  std::vector<uint32_t> order_, merged_;
  size_t size_ = 0;              // of them; less stand there until all are written
  size_t width_ = 0;             // runs of so many are sorted
  size_t begin_ = 0;             // of the run, or pair of runs, that is next
  size_t left_ = 0, right_ = 0;  // what is next of each run of the pair
};

}  // namespace koios::engine
