// SnapshotSet: the snapshots of all partitions of a graph at one version, with tables of what each
// has, so that nobody looks a name up while rows wait. Immutable; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "storage/snapshot/partition_snapshot.h"

namespace koios::storage {

// The lists of one edge label, and the properties of its edges.
struct LabelledAdjacency {
  LabelId label = kNoName;
  const SnapshotAdjacency* adjacency = nullptr;
};

class SnapshotSet {
 public:
  // REQUIRES: snapshots[p] is of partition p, all are of one version.
  explicit SnapshotSet(std::vector<std::shared_ptr<const PartitionSnapshot>> snapshots);

  // DATA_LOSS once anything of one was found damaged.
  Status Damage() const;
  uint64_t version() const { return snapshots_.front()->header().version; }
  uint32_t num_partitions() const { return static_cast<uint32_t>(snapshots_.size()); }
  const PartitionSnapshot& Of(uint32_t partition) const { return *snapshots_[partition]; }
  std::span<const PartitionSnapshot* const> all() const { return pointers_; }

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

  std::vector<std::shared_ptr<const PartitionSnapshot>> snapshots_;
  std::vector<const PartitionSnapshot*> pointers_;
  std::vector<std::vector<SetTable>> tables_;  // by partition and set
};

}  // namespace koios::storage
