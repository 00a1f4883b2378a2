// SpilledResults: results for a client that wait on disk, until a commit decides whether it gets
// them. They come again in their order. One caller at a time; its space outlives it.
#pragma once

#include <cstdint>
#include <memory>

#include "core/memory.h"
#include "core/status.h"
#include "engine/batch/fifo.h"
#include "engine/engine.h"
#include "engine/spill/spill_space.h"

namespace koios::engine {

class SpilledResults {
 public:
  explicit SpilledResults(SpillSpace* space) : space_(space) {}

  // RESOURCE_EXHAUSTED or UNAVAILABLE when there is no room on disk.
  Status Append(const ResultBatch& batch);
  bool empty() const { return blocks_.empty(); }
  // The next batch, without a charge, but that `account` has the nodes of its paths; its room on
  // disk is free. DATA_LOSS when it is not what was written. REQUIRES: !empty().
  StatusOr<ResultBatch> Take(const std::shared_ptr<MemoryAccount>& account);
  uint64_t written_bytes() const { return file_ == nullptr ? 0 : file_->written(); }

 private:
  SpillSpace* const space_;
  std::unique_ptr<SpillFile> file_;
  Fifo<uint64_t> blocks_;  // where they are
};

}  // namespace koios::engine
