// OwnedView: the part of a view that one worker owns, partitions `index`, `index` + `num_workers`
// and so on. What asks for more gets INTERNAL, which names the partition: so it is seen that a
// query would run where nothing is shared (Worker --isolate-partitions, the simulation). What
// belongs to no partition (schema, statistics, the partition of an id) is everybody's.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "storage/graph_view.h"

namespace koios::storage {

class OwnedView final : public GraphView {
 public:
  OwnedView(std::shared_ptr<const GraphView> whole, uint32_t index, uint32_t num_workers)
      : whole_(std::move(whole)), index_(index), num_workers_(num_workers) {}

  uint64_t version() const override { return whole_->version(); }
  uint32_t num_partitions() const override { return whole_->num_partitions(); }
  const Schema& schema() const override { return whole_->schema(); }
  uint32_t PartitionOfId(const Value& id) const override { return whole_->PartitionOfId(id); }

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
  Status ExpandTo(std::span<const VertexRef> vertices, Direction direction,
                  std::span<const LabelId> labels, std::span<const LabelId> neighbour_labels,
                  ExpandCursor* cursor, size_t limit, Expansion* out) const override;
  Status CountEnds(std::span<const VertexRef> vertices, Direction direction,
                   std::span<const LabelId> labels, DegreeCursor* cursor, size_t limit,
                   std::vector<int64_t>* out) const override;
  Status VisitEnds(std::span<const VertexRef> vertices, Direction direction,
                   std::span<const LabelId> labels, ExpandCursor* cursor, size_t limit,
                   EndVisitor* visitor) const override;
  std::optional<int64_t> TotalEnds(uint32_t partition, std::span<const LabelId> vertex_labels,
                                   Direction direction,
                                   std::span<const LabelId> labels) const override;
  Status ScanValues(uint32_t partition, std::span<const LabelId> labels, KeyId key,
                    ValueCursor* cursor, size_t limit, CountedValues* out) const override;
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
  Status ReadVertexColumns(std::span<const VertexRef> vertices, std::span<const KeyId> keys,
                           ReadBudget* budget, std::vector<PropertyColumn>* out) const override;
  Status ReadEdgeColumns(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                         ReadBudget* budget, std::vector<PropertyColumn>* out) const override;

 private:
  Status Check(uint32_t partition) const;
  Status CheckIds(std::span<const Value> ids) const;
  Status CheckVertices(std::span<const VertexRef> vertices) const;
  // By their out vertex, with which their properties are.
  Status CheckEdges(std::span<const EdgeRef> edges) const;

  const std::shared_ptr<const GraphView> whole_;
  const uint32_t index_, num_workers_;
};

}  // namespace koios::storage
