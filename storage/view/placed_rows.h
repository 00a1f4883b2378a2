// PlacedRows: where the vertices of a column are in the snapshots, by partition and label set, so
// that each table is read for all of its rows at once. Belongs to one call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/view/snapshot_set.h"

namespace koios::storage {

// Whether each vertex is the one behind the one before it, as a scan gives them.
bool IsStretch(std::span<const VertexRef> vertices);

class PlacedRows {
 public:
  // Vertices of one table. Those that do not exist are in none.
  struct Group {
    uint32_t partition = 0;
    uint32_t set = 0;
    uint32_t begin = 0;
    uint32_t end = 0;
    uint32_t size() const { return end - begin; }
  };

  Status Locate(const SnapshotSet& snapshots, std::span<const VertexRef> vertices);

  std::span<const Group> groups() const { return groups_; }
  // Positions in the column that was located; ascending in a group.
  std::span<const uint32_t> Inputs(const Group& group) const {
    return std::span(inputs_).subspan(group.begin, group.size());
  }
  // Rows of the table.
  std::span<const uint64_t> Rows(const Group& group) const {
    return std::span(rows_).subspan(group.begin, group.size());
  }

 private:
  StatusOr<bool> LocateStretch(const SnapshotSet& snapshots, std::span<const VertexRef> vertices);
  Status LocateInRuns(const SnapshotSet& snapshots, std::span<const VertexRef> vertices);
  Status LocateByPartition(const SnapshotSet& snapshots, std::span<const VertexRef> vertices);
  void AddGroups(uint32_t partition, size_t begin, size_t end);

  std::vector<const VertexRuns::Run*> runs_;  // by input; null: it does not exist
  std::vector<uint32_t> lasts_;
  std::vector<uint32_t> starts_, order_;
  std::vector<uint64_t> locals_;
  std::vector<VertexPlace> places_;  // in `order_`
  std::vector<uint32_t> inputs_;
  std::vector<uint64_t> rows_;
  std::vector<Group> groups_;
};

}  // namespace koios::storage
