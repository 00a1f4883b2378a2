// SnapshotView: a GraphView that reads from snapshots, and from a delta what was committed since,
// and from another view of the same version (the truth) what they have not: edges by id, and seeks
// of an index. Unordered scans of edges go by out vertex. What it answers, and in which order, does
// not depend on how much of it is in the delta.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "storage/graph_view.h"
#include "storage/view/placed_rows.h"
#include "storage/view/snapshot_set.h"
#include "storage/view/touched_rows.h"

namespace koios::storage {

class SnapshotView final : public GraphView {
 public:
  // `delta`: all that was committed since the snapshots, up to the truth's version at least; null:
  // that is nothing.
  SnapshotView(std::shared_ptr<const SnapshotSet> snapshots, std::shared_ptr<const Delta> delta,
               std::shared_ptr<const GraphView> truth)
      : snapshots_(std::move(snapshots)),
        delta_(std::move(delta)),
        truth_(std::move(truth)),
        at_{delta_.get(), truth_->version()} {}

  uint64_t version() const override { return truth_->version(); }
  uint32_t num_partitions() const override { return truth_->num_partitions(); }
  const Schema& schema() const override { return truth_->schema(); }
  const GraphStatistics& statistics() const { return snapshots_->statistics(); }
  uint32_t PartitionOfId(const Value& id) const override { return truth_->PartitionOfId(id); }

  const SnapshotSet& snapshots() const { return *snapshots_; }
  // What it is to agree with, of the same version.
  const GraphView& truth() const { return *truth_; }

  Status ScanVertices(uint32_t partition, std::span<const LabelId> labels, ScanCursor* cursor,
                      size_t limit, std::vector<VertexRef>* out) const override;
  Status ScanEdges(uint32_t partition, std::span<const LabelId> labels, ExpandCursor* cursor,
                   size_t limit, std::vector<EdgeRef>* out) const override;
  Status SeekVertices(uint32_t partition, const VertexSeek& seek, SeekCursor* cursor, size_t limit,
                      std::vector<VertexRef>* out) const override {
    return truth_->SeekVertices(partition, seek, cursor, limit, out);
  }
  Status LookupExactVertices(std::span<const Value> ids, std::vector<uint32_t>* rows,
                             std::vector<VertexRef>* out) const override;
  Status LookupEdgeNumbers(std::span<const Value> ids, std::vector<uint32_t>* rows,
                           std::vector<uint64_t>* numbers) const override {
    return truth_->LookupEdgeNumbers(ids, rows, numbers);
  }
  Status EdgesOfNumbers(std::span<const uint64_t> numbers, std::vector<uint32_t>* rows,
                        std::vector<EdgeRef>* out, std::vector<bool>* given) const override {
    return truth_->EdgesOfNumbers(numbers, rows, out, given);
  }
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
  Status DamageOf(std::span<const VertexRef> vertices) const;
  // Locals of vertices from *next on, of a label set or (kNoSet) all, with those of `label` (or
  // all) that the delta has, and without those that it drops; *next becomes kEndOfScan. At most
  // `limit`; none only at the end, or after a long look. kNowhere: no set has the label.
  Status ScanLocals(uint32_t partition, uint32_t set, LabelId label, uint64_t* next, size_t limit,
                    std::vector<uint64_t>* locals) const;
  // Whether the columns of a partition have all that there is of a property, and can be counted
  // value by value; those of these label sets.
  bool CountsValues(uint32_t partition, std::span<const uint32_t> sets, KeyId key) const;
  // Whether edges of the vertex may have come or gone.
  bool HasChangedEnds(VertexRef vertex, Direction direction, std::span<const LabelId> labels) const;

  const std::shared_ptr<const SnapshotSet> snapshots_;
  const std::shared_ptr<const Delta> delta_;
  const std::shared_ptr<const GraphView> truth_;
  const DeltaAt at_;
};

}  // namespace koios::storage
