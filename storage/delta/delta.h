// Delta: what was committed to a graph since its snapshots, in memory, by version. A view is a
// version, the snapshots and the delta: what is younger than the version it does not see. One
// thread at a time applies commits; it publishes the version (through a mutex) afterwards. Any
// thread reads at a version that was published. The log of commits (delta_record.h) has it all on
// disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "storage/delta/delta_arena.h"
#include "storage/delta/partition_delta.h"

namespace koios::storage {

class Delta {
 public:
  Delta(uint32_t num_partitions, std::shared_ptr<DeltaBudget> budget);

  uint32_t num_partitions() const { return static_cast<uint32_t>(partitions_.size()); }
  const PartitionDelta& Of(uint32_t partition) const { return partitions_[partition]; }
  bool empty() const { return record_bytes_.load(std::memory_order_relaxed) == 0; }
  size_t bytes() const { return arena_.bytes(); }
  // Of the log that it was made of.
  uint64_t record_bytes() const { return record_bytes_.load(std::memory_order_relaxed); }

  // The changes of a DeltaRecord, which become visible at `version`. After an error (DATA_LOSS) it
  // must not be read from. REQUIRES: versions ascend.
  Status Apply(uint64_t version, std::string_view record);

 private:
  Status ApplyVertex(uint64_t version, class DeltaRecordReader& change);
  Status ApplyEdge(uint64_t version, class DeltaRecordReader& change);

  DeltaArena arena_;
  std::vector<PartitionDelta> partitions_;
  std::atomic<uint64_t> record_bytes_{0};
};

}  // namespace koios::storage
