// Builds the snapshots of a graph from its truth, one per partition, and names them. Commits go on
// meanwhile: the snapshots are of the version at the beginning, and what was committed since is in
// the delta on top of them.
#pragma once

#include <cstdint>
#include <functional>

#include "core/status.h"
#include "storage/rocks/graph_store.h"
#include "storage/snapshot/snapshot_builder.h"

namespace koios::storage {

struct SnapshotProgress {
  uint32_t partition = 0;
  uint32_t num_partitions = 0;
  uint64_t entries = 0;  // of the truth, read so far
};
// Asked now and then: an error ends the build.
using SnapshotWatch = std::function<Status(const SnapshotProgress&)>;

struct SnapshotOptions {
  size_t memory_bytes = size_t{256} << 20;  // beyond it data waits in a temporary file
  // Also those whose snapshot says what they are now.
  bool all_partitions = true;
};

struct SnapshotReport {
  uint64_t version = 0;
  uint32_t files = 0;
  uint64_t file_bytes = 0;
  uint64_t vertices = 0;
  uint64_t edges = 0;
  SectionBytes bytes;
  double seconds = 0;
};

// All or none are named, in one synced step; files that nothing names any more are deleted. When it
// fails, what was named before is. ABORTED: the graph was loaded meanwhile; FAILED_PRECONDITION: it
// can't be written, or snapshots are being built; RESOURCE_EXHAUSTED: the disk is full; DATA_LOSS:
// the truth is damaged.
StatusOr<SnapshotReport> BuildSnapshots(GraphStore* store, const SnapshotOptions& options,
                                        const SnapshotWatch& watch = nullptr);

}  // namespace koios::storage
