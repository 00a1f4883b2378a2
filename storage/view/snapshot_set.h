// SnapshotSet: the snapshots of all partitions of a graph, with tables of what each has, so that
// nobody looks a name up while rows wait. That of a partition may be older than the set's version,
// when nothing was changed there in between. Immutable; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/statistics/graph_statistics.h"
#include "storage/snapshot/partition_snapshot.h"
#include "storage/view/vertex_runs.h"

namespace koios::storage {

// The lists of one edge label, and the properties of its edges.
struct LabelledAdjacency {
  LabelId label = kNoName;
  const SnapshotAdjacency* adjacency = nullptr;
};

class SnapshotSet {
 public:
  using Snapshots = std::vector<std::shared_ptr<const PartitionSnapshot>>;
  // REQUIRES: snapshots[p] is of partition p, and says what it was at `version`.
  SnapshotSet(uint64_t version, Snapshots snapshots);

  // DATA_LOSS once anything of one was found damaged.
  Status Damage() const;
  uint64_t version() const { return version_; }
  uint64_t bytes() const { return bytes_; }  // of the files
  const Snapshots& snapshots() const { return snapshots_; }
  uint32_t num_partitions() const { return static_cast<uint32_t>(snapshots_.size()); }
  const PartitionSnapshot& Of(uint32_t partition) const { return *snapshots_[partition]; }
  std::span<const PartitionSnapshot* const> all() const { return pointers_; }
  const GraphStatistics& statistics() const { return statistics_; }
  const VertexRuns& vertex_runs() const { return vertex_runs_; }

  // Of the vertices of a label set, ascending by label. Direction: out or in.
  std::span<const LabelledAdjacency> Adjacencies(uint32_t partition, uint32_t set,
                                                 Direction direction) const {
    return TableOf(partition, set).adjacencies[direction == Direction::kIn ? 1 : 0];
  }
  // Null: no vertex of the set has any.
  const SnapshotAdjacency* FindAdjacency(uint32_t partition, uint32_t set, Direction direction,
                                         LabelId label) const;
  // The keys of properties that vertices of the set have, ascending.
  std::span<const KeyId> VertexKeys(uint32_t partition, uint32_t set) const {
    return TableOf(partition, set).keys;
  }
  // Those of out-edges of the label.
  std::span<const KeyId> EdgeKeys(uint32_t partition, uint32_t set, LabelId label) const;
  // The label sets that have the label.
  std::vector<uint32_t> SetsOf(uint32_t partition, LabelId label) const;

 private:
  struct EdgeKeysOfLabel {
    LabelId label = kNoName;
    std::vector<KeyId> keys;
  };
  struct SetTable {
    std::vector<LabelledAdjacency> adjacencies[2];
    std::vector<KeyId> keys;
    std::vector<EdgeKeysOfLabel> edge_keys;
  };
  const SetTable& TableOf(uint32_t partition, uint32_t set) const {
    return tables_[partition][set];
  }

  const uint64_t version_;
  const Snapshots snapshots_;
  uint64_t bytes_ = 0;
  std::vector<const PartitionSnapshot*> pointers_;
  std::vector<std::vector<SetTable>> tables_;  // by partition and set
  GraphStatistics statistics_;
  VertexRuns vertex_runs_;
};

}  // namespace koios::storage
