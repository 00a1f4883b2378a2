#include "storage/view/snapshot_set.h"

#include <algorithm>

#include "storage/view/snapshot_statistics.h"

namespace koios::storage {

SnapshotSet::SnapshotSet(uint64_t version, Snapshots snapshots)
    : version_(version), snapshots_(std::move(snapshots)) {
  for (const auto& snapshot : snapshots_) {
    pointers_.push_back(snapshot.get());
    bytes_ += snapshot->header().bytes;
    std::vector<SetTable>& tables = tables_.emplace_back(snapshot->label_sets().size());
    // The maps are ordered by set, label and key: so are the tables.
    for (const auto& [name, adjacency] : snapshot->adjacencies()) {
      const size_t direction = name.index == SectionIndex::kIn ? 1 : 0;
      tables[name.set].adjacencies[direction].push_back({name.parent, adjacency.get()});
    }
    for (const auto& [name, column] : snapshot->columns()) {
      if (name.key == kNoName) continue;
      SetTable& table = tables[name.set];
      if (name.index == SectionIndex::kVertex) table.keys.push_back(name.key);
      if (name.index != SectionIndex::kOut) continue;
      if (table.edge_keys.empty() || table.edge_keys.back().label != name.parent) {
        table.edge_keys.push_back({name.parent, {}});
      }
      table.edge_keys.back().keys.push_back(name.key);
    }
  }
  statistics_ = StatisticsOf(version_, pointers_);
  vertex_runs_ = VertexRuns(pointers_);
}

Status SnapshotSet::Damage() const {
  for (const PartitionSnapshot* snapshot : pointers_) RETURN_IF_ERROR(snapshot->Damage());
  return OkStatus();
}

const SnapshotAdjacency* SnapshotSet::FindAdjacency(uint32_t partition, uint32_t set,
                                                    Direction direction, LabelId label) const {
  const auto all = Adjacencies(partition, set, direction);
  const auto found = std::lower_bound(
      all.begin(), all.end(), label,
      [](const LabelledAdjacency& one, LabelId wanted) { return one.label < wanted; });
  return found != all.end() && found->label == label ? found->adjacency : nullptr;
}

std::span<const KeyId> SnapshotSet::EdgeKeys(uint32_t partition, uint32_t set,
                                             LabelId label) const {
  for (const EdgeKeysOfLabel& one : TableOf(partition, set).edge_keys) {
    if (one.label == label) return one.keys;
  }
  return {};
}

std::vector<uint32_t> SnapshotSet::SetsOf(uint32_t partition, LabelId label) const {
  std::vector<uint32_t> sets;
  const std::span<const LabelSet> all = Of(partition).label_sets();
  for (uint32_t set = 0; set < all.size(); ++set) {
    const std::vector<LabelId>& labels = all[set].labels;
    if (std::find(labels.begin(), labels.end(), label) != labels.end()) sets.push_back(set);
  }
  return sets;
}

}  // namespace koios::storage
