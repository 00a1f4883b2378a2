// SpilledResults: results for a client that wait on disk, until a commit decides whether it gets
// them. They come again in their order. One caller at a time; its space outlives it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/memory.h"
#include "core/status.h"
#include "engine/batch/fifo.h"
#include "engine/engine.h"
#include "engine/spill/spill_space.h"

namespace koios::engine {

class SpilledResults {
 public:
  // `of_query`: what all of its query take on disk.
  SpilledResults(SpillSpace* space, std::shared_ptr<std::atomic<uint64_t>> of_query)
      : space_(space), of_query_(std::move(of_query)) {}

  // RESOURCE_EXHAUSTED or UNAVAILABLE when there is no room on disk, or a row is too large for it.
  Status Append(const ResultBatch& batch);
  bool empty() const { return blocks_.empty(); }
  // The next batch, without a charge, but that `account` has the nodes of its paths; its room on
  // disk is free. DATA_LOSS when it is not what was written. REQUIRES: !empty().
  StatusOr<ResultBatch> Take(const std::shared_ptr<MemoryAccount>& account);
  // In all. Any thread.
  uint64_t written_bytes() const { return written_.load(std::memory_order_relaxed); }

 private:
  SpillSpace* const space_;
  const std::shared_ptr<std::atomic<uint64_t>> of_query_;
  std::unique_ptr<SpillFile> file_;
  std::atomic<uint64_t> written_{0};
  Fifo<uint64_t> blocks_;  // where they are
};

}  // namespace koios::engine
