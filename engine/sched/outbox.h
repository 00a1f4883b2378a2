// Outbox: what one Exchange holds for each worker. Rows are gathered into full batches; a batch
// leaves when it is full, or at a flush, and only while the receiver has acknowledged all but
// kWindow frames of this operator: that window is the query's bound on frames in flight.
// Belongs to one query on one worker.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "engine/batch/batch.h"

namespace koios::engine {

class Outbox {
 public:
  static constexpr uint32_t kWindow = 2;

  explicit Outbox(uint32_t num_workers) : lanes_(num_workers) {}

  // Adds rows of `source` at `picked`, with their runs (counts add up to picked.size()).
  void Add(uint32_t to, const Batch& source, const std::vector<uint32_t>& picked,
           const std::vector<Run>& runs);
  // The next batch that may leave for `to`: a full one, or any with `flush`. `local`: no window.
  bool Take(uint32_t to, bool flush, bool local, Batch* batch);
  void Acknowledge(uint32_t to);
  // A lane that holds a full batch: the Exchange takes no more input until it has left.
  bool Blocked() const { return num_full_ > 0; }
  bool Empty() const { return num_batches_ == 0; }

 private:
  struct Lane {
    std::deque<Batch> batches;
    uint32_t in_flight = 0;
  };
  static bool IsFull(const Lane& lane) {
    return lane.batches.size() > 1 ||
           (lane.batches.size() == 1 && lane.batches.front().rows >= kBatchRows);
  }

  std::vector<Lane> lanes_;
  size_t num_batches_ = 0;
  size_t num_full_ = 0;
};

}  // namespace koios::engine
