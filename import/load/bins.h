// Bins: into how many parts an import sorts and writes its records, each of them some partitions of
// the graph that follow each other. What comes out does not depend on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace koios::import {

class Bins {
 public:
  Bins(uint32_t num_partitions, size_t num_bins)
      : num_partitions_(num_partitions),
        num_bins_(std::clamp<size_t>(num_bins, 1, num_partitions)) {}

  uint32_t num_partitions() const { return num_partitions_; }
  size_t size() const { return num_bins_; }
  size_t Of(uint32_t partition) const { return partition * num_bins_ / num_partitions_; }
  // The first partition of a bin, or behind the last one.
  uint32_t Begin(size_t bin) const {
    return static_cast<uint32_t>((bin * num_partitions_ + num_bins_ - 1) / num_bins_);
  }

 private:
  uint32_t num_partitions_;
  size_t num_bins_;
};

}  // namespace koios::import
