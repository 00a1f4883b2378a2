// RocksView: the truth at one version, read through one RocksDB snapshot: for what snapshots lack,
// for building them, and for all reads as long as there are none. Immutable, any thread. Calls make
// their own iterators and buffers; nothing is kept between calls.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/schema.h"
#include "storage/graph_view.h"
#include "storage/rocks/database.h"

namespace koios::storage {

class RocksView final : public GraphView {
 public:
  // A vertex's ends of one direction and label that are sought take as long as so many ends.
  static constexpr size_t kSeekCost = 16;

  RocksView(std::shared_ptr<Database> database, uint64_t version, uint32_t num_partitions,
            std::shared_ptr<const Schema> schema)
      : snapshot_(std::move(database)),
        version_(version),
        num_partitions_(num_partitions),
        schema_(std::move(schema)) {}

  uint64_t version() const override { return version_; }
  uint32_t num_partitions() const override { return num_partitions_; }
  const Schema& schema() const override { return *schema_; }
  uint32_t PartitionOfId(const Value& id) const override;

  Status ScanVertices(uint32_t partition, std::span<const LabelId> labels, ScanCursor* cursor,
                      size_t limit, std::vector<VertexRef>* out) const override;
  Status ScanEdges(uint32_t partition, std::span<const LabelId> labels, ExpandCursor* cursor,
                   size_t limit, std::vector<EdgeRef>* out) const override;
  Status SeekVertices(uint32_t partition, const VertexSeek& seek, SeekCursor* cursor, size_t limit,
                      std::vector<VertexRef>* out) const override;
  Status LookupExactVertices(std::span<const Value> ids, std::vector<uint32_t>* rows,
                             std::vector<VertexRef>* out) const override;
  Status LookupEdgeNumbers(std::span<const Value> ids, std::vector<uint32_t>* rows,
                           std::vector<uint64_t>* numbers) const override;
  Status EdgesOfNumbers(std::span<const uint64_t> numbers, std::vector<uint32_t>* rows,
                        std::vector<EdgeRef>* out, std::vector<bool>* given) const override;
  Status Expand(std::span<const VertexRef> vertices, Direction direction,
                std::span<const LabelId> labels, bool want_edges, ExpandCursor* cursor,
                size_t limit, Expansion* out) const override;
  Status CountEnds(std::span<const VertexRef> vertices, Direction direction,
                   std::span<const LabelId> labels, DegreeCursor* cursor, size_t limit,
                   std::vector<int64_t>* out) const override;
  Status CountBetween(const VertexPairs& pairs, Direction direction,
                      std::span<const LabelId> labels, int64_t enough, BetweenCursor* cursor,
                      size_t limit, std::vector<int64_t>* out) const override;
  Status VertexLabels(std::span<const VertexRef> vertices,
                      std::vector<LabelId>* out) const override;
  Status VertexIds(std::span<const VertexRef> vertices, Column* out) const override;
  Status EdgeIds(std::span<const EdgeRef> edges, Column* out) const override;
  Status ReadVertexProperties(std::span<const VertexRef> vertices, std::span<const KeyId> keys,
                              ReadBudget* budget, PropertyRows* out) const override;
  Status ReadEdgeProperties(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                            ReadBudget* budget, PropertyRows* out) const override;

  const Snapshot& snapshot() const { return snapshot_; }

 private:
  Snapshot snapshot_;
  uint64_t version_;
  uint32_t num_partitions_;
  std::shared_ptr<const Schema> schema_;
};

}  // namespace koios::storage
