// AdjacencyWriter: the edges of the vertices of one label set, in one direction, with one label,
// gathered in order and written as sections:
//   each row has exactly one neighbour: neighbours alone, position = row
//   fewer than a quarter of the rows have any, or none has two: a bit per row, and lists of the
//     rows that have any (without offsets when none has two)
//   else: offsets of all rows, and neighbours
// The position of an edge is its place among the neighbours. One thread.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "core/status.h"
#include "storage/snapshot/number_stage.h"

namespace koios::storage {

// Below this share of rows with any, lists are of those only.
inline constexpr uint64_t kSparseShare = 4;

class AdjacencyWriter {
 public:
  // `name`: index kOut or kIn, set, parent = edge label.
  AdjacencyWriter(const SectionName& name, bool keeps_ids, const StageContext& context);

  // The next edge end. REQUIRES: rows ascend; (neighbour, edge id) ascends within a row.
  void Add(uint64_t row, VertexRef neighbour, uint64_t edge_id);
  // Of the next edge.
  uint64_t next_position() const { return neighbours_.size(); }
  const SectionName& name() const { return name_; }

  // `rows`: of the label set.
  Status Write(uint64_t rows, SnapshotWriter* writer);
  uint64_t ByteEstimate() const;

 private:
  void EndRow();
  Status WritePresence(uint64_t rows, SnapshotWriter* writer) const;
  Status WriteOffsets(uint64_t rows, bool of_present, SnapshotWriter* writer) const;
  Status WriteEdgeIds(SnapshotWriter* writer);

  const SectionName name_;
  const bool keeps_ids_;
  const StageContext context_;
  NumberStage<VertexNumbers> neighbours_;
  SpillBuffer lists_;  // of each row with any: its distance to the one before, its degree
  SpillBuffer edge_ids_;
  uint64_t num_ids_ = 0;
  uint64_t least_id_ = std::numeric_limits<uint64_t>::max();
  uint64_t largest_id_ = 0;
  uint64_t last_id_ = 0;
  uint64_t id_runs_ = 0;
  std::optional<uint64_t> row_;
  uint64_t degree_ = 0;
  uint64_t next_row_ = 0;  // behind the last one that ended
  AdjacencyFacts facts_;
};

}  // namespace koios::storage
