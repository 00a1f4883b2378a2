// SnapshotBuilder: makes the snapshot of one partition from its vertices and edges, which come in
// the order in which the truth and a load have them:
//   1. AddEdge, in any order: edges of the partition's vertices that have properties or given ids
//   2. AddVertex by ascending local number; behind each its edge ends, by (direction, label,
//      neighbour, edge id)
//   3. Finish: the file is whole and durable
// Memory is bounded: what is beyond the budget waits in a temporary file. Besides it holds at most
// a quarter of the budget for sorting, and 2 KiB per column and adjacency. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/status.h"
#include "core/types.h"
#include "storage/snapshot/adjacency_writer.h"
#include "storage/snapshot/column_writer.h"
#include "storage/snapshot/id_table.h"
#include "storage/snapshot/record_sorter.h"
#include "storage/snapshot/snapshot_writer.h"
#include "storage/snapshot/vertex_rows.h"

namespace koios::storage {

struct SnapshotBuildOptions {
  std::string folder;
  uint64_t number = 1;  // of the file
  uint64_t version = 0;
  uint32_t partition = 0;
  uint32_t num_partitions = 1;
  size_t budget_bytes = size_t{256} << 20;
  // In-edges of these labels (ascending) keep their ids, by which their properties are found.
  std::vector<LabelId> labels_with_properties;
  // Larger numbers, and locals of neighbours, need 8 bytes; smaller limits are for tests.
  uint64_t most_narrow = 0xFFFFFFFF;
  uint64_t most_narrow_local = ~uint64_t{0};
  size_t most_columns = 100'000;  // and adjacencies
  SnapshotDisk* disk = SnapshotDisk::Real();
};

struct PropertyInput {
  KeyId key = kNoName;
  std::string_view value;  // encoded (core/value_codec.h); or, if the vertex has several:
  Cardinality cardinality = Cardinality::kSingle;
  std::span<const ItemInput> items;
};

struct VertexInput {
  uint64_t local = 0;
  std::span<const LabelId> labels;  // ascending
  std::string_view id_bytes;        // storage/codec/element_id.h
  std::span<const PropertyInput> properties;
};

struct EdgeInput {
  EdgeRef edge;
  std::string_view id_bytes;  // empty: assigned
  std::span<const std::pair<KeyId, std::string_view>> properties;
};

struct BuiltSnapshot {
  SnapshotFileName file;
  uint64_t vertices = 0, out_edges = 0, in_edges = 0;
  SectionBytes bytes_by_kind;
  uint64_t spilled_bytes = 0;
};

class SnapshotBuilder {
 public:
  explicit SnapshotBuilder(const SnapshotBuildOptions& options);
  ~SnapshotBuilder();

  // DATA_LOSS, all: what comes is not what a graph can be. RESOURCE_EXHAUSTED: it has too many
  // columns, or the disk is full. Failures to write show in Finish at the latest.
  Status AddEdge(const EdgeInput& edge);
  Status AddVertex(const VertexInput& vertex);
  // Of the vertex that came last.
  Status AddEnd(Direction direction, LabelId label, VertexRef neighbour, uint64_t edge_id);
  // An out-edge with what AddEdge would bring: id bytes, length first (empty: assigned), and
  // properties as in its record (storage/codec/records.h).
  Status AddOutEdge(LabelId label, VertexRef neighbour, uint64_t edge_id, std::string_view payload);
  StatusOr<BuiltSnapshot> Finish();

 private:
  using ColumnName = std::tuple<SectionIndex, uint32_t, LabelId, KeyId>;
  struct LastColumn {
    ColumnName name;
    ColumnWriter* column = nullptr;
  };
  using EndOrder = std::tuple<Direction, LabelId, uint64_t, uint64_t>;

  uint32_t SetOf(std::span<const LabelId> labels);
  AdjacencyWriter* AdjacencyOf(Direction direction, LabelId label);
  ColumnWriter* ColumnOf(SectionIndex index, uint32_t set, LabelId parent, KeyId key);
  // The adjacency that the next end belongs to, if it may come next.
  StatusOr<AdjacencyWriter*> NextEnd(Direction direction, LabelId label, VertexRef neighbour,
                                     uint64_t edge_id);
  Status AddEdgeProperties(LabelId label, uint64_t position, std::string_view record);
  Status CheckColumns() const;
  uint64_t ByteEstimate() const;
  Status WriteAll(SnapshotWriter* writer);

  const SnapshotBuildOptions options_;
  SpillSpace space_;
  const StageContext context_;
  RecordSorter edges_;
  bool edges_sorted_ = false;
  VertexRowsWriter rows_;
  IdTableWriter ids_;
  std::map<std::vector<LabelId>, uint32_t> set_numbers_;
  std::vector<std::vector<LabelId>> sets_;
  absl::flat_hash_map<std::tuple<uint32_t, Direction, LabelId>, std::unique_ptr<AdjacencyWriter>>
      adjacency_;
  absl::flat_hash_map<ColumnName, std::unique_ptr<ColumnWriter>> columns_;
  std::array<LastColumn, 64> last_columns_;  // by the end of the key
  std::string id_;                           // encoded, of the element that came last
  VertexRef vertex_;
  uint32_t set_ = 0;
  uint64_t row_ = 0;
  std::optional<EndOrder> last_end_;
  std::tuple<uint32_t, Direction, LabelId> last_adjacency_name_;
  AdjacencyWriter* last_adjacency_ = nullptr;
  BuiltSnapshot built_;
};

}  // namespace koios::storage
