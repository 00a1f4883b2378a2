// WindowLists: the lists of a window of vertices, found table by table: of each vertex those of
// both directions and all labels that are asked for, in the order in which an expansion gives them.
// Belongs to one call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/view/placed_rows.h"
#include "storage/view/snapshot_set.h"

namespace koios::storage {

// The labels that a caller asks for: ascending, each once, without names that do not exist.
std::vector<LabelId> WantedLabels(std::span<const LabelId> labels);

class WindowLists {
 public:
  WindowLists(const SnapshotSet& snapshots, Direction direction, std::span<const LabelId> labels)
      : snapshots_(snapshots),
        direction_(direction),
        all_labels_(labels.empty()),
        labels_(WantedLabels(labels)) {}

  struct List {
    const SnapshotAdjacency* adjacency = nullptr;
    ListSlice slice;
  };

  Status Find(std::span<const VertexRef> vertices);

  bool Wants(Direction direction) const {
    return direction_ == Direction::kBoth || direction_ == direction;
  }
  bool all_labels() const { return all_labels_; }
  const std::vector<LabelId>& labels() const { return labels_; }

  uint64_t num_ends() const { return num_ends_; }  // in all lists
  uint32_t NumLists(size_t row) const { return rows_[row].num_lists; }
  List ListOf(size_t row, uint32_t i) const {
    const RowLists& lists = rows_[row];
    return {tables_[lists.first_table + i], slices_[lists.first_slice + i * lists.stride]};
  }

 private:
  struct RowLists {
    uint32_t first_table = 0;
    uint32_t num_lists = 0;
    uint32_t first_slice = 0;
    uint32_t stride = 0;  // from one list of the row to its next
  };

  void AddTables(const PlacedRows::Group& group);

  const SnapshotSet& snapshots_;
  const Direction direction_;
  const bool all_labels_;
  const std::vector<LabelId> labels_;
  PlacedRows placed_;
  uint64_t num_ends_ = 0;
  std::vector<RowLists> rows_;
  std::vector<const SnapshotAdjacency*> tables_;  // by group
  std::vector<ListSlice> slices_;                 // by group, list and row
};

}  // namespace koios::storage
