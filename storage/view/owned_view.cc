#include "storage/view/owned_view.h"

#include <string>

#include "storage/codec/element_id.h"

namespace koios::storage {

Status OwnedView::Check(uint32_t partition) const {
  if (partition % num_workers_ == index_) return OkStatus();
  return Internal("Worker " + std::to_string(index_) + " of " + std::to_string(num_workers_) +
                  " was to read partition " + std::to_string(partition) + ", which is another's.");
}

Status OwnedView::CheckVertices(std::span<const VertexRef> vertices) const {
  for (const VertexRef& vertex : vertices) RETURN_IF_ERROR(Check(vertex.partition()));
  return OkStatus();
}

Status OwnedView::CheckEdges(std::span<const EdgeRef> edges) const {
  for (const EdgeRef& edge : edges) RETURN_IF_ERROR(Check(edge.out.partition()));
  return OkStatus();
}

Status OwnedView::ScanVertices(uint32_t partition, std::span<const LabelId> labels,
                               ScanCursor* cursor, size_t limit,
                               std::vector<VertexRef>* out) const {
  RETURN_IF_ERROR(Check(partition));
  return whole_->ScanVertices(partition, labels, cursor, limit, out);
}

Status OwnedView::ScanEdges(uint32_t partition, std::span<const LabelId> labels,
                            ExpandCursor* cursor, size_t limit, std::vector<EdgeRef>* out) const {
  RETURN_IF_ERROR(Check(partition));
  return whole_->ScanEdges(partition, labels, cursor, limit, out);
}

Status OwnedView::SeekVertices(uint32_t partition, const VertexSeek& seek, SeekCursor* cursor,
                               size_t limit, std::vector<VertexRef>* out) const {
  RETURN_IF_ERROR(Check(partition));
  return whole_->SeekVertices(partition, seek, cursor, limit, out);
}

Status OwnedView::CheckIds(std::span<const Value> ids) const {
  for (const Value& id : ids) RETURN_IF_ERROR(Check(PartitionOfId(id)));
  return OkStatus();
}

Status OwnedView::LookupExactVertices(std::span<const Value> ids, std::vector<uint32_t>* rows,
                                      std::vector<VertexRef>* out) const {
  RETURN_IF_ERROR(CheckIds(ids));
  return whole_->LookupExactVertices(ids, rows, out);
}

Status OwnedView::LookupEdgeNumbers(std::span<const Value> ids, std::vector<uint32_t>* rows,
                                    std::vector<uint64_t>* numbers) const {
  RETURN_IF_ERROR(CheckIds(ids));
  return whole_->LookupEdgeNumbers(ids, rows, numbers);
}

Status OwnedView::EdgesOfNumbers(std::span<const uint64_t> numbers, std::vector<uint32_t>* rows,
                                 std::vector<EdgeRef>* out, std::vector<bool>* given) const {
  for (const uint64_t number : numbers) RETURN_IF_ERROR(Check(VertexRef{number}.partition()));
  return whole_->EdgesOfNumbers(numbers, rows, out, given);
}

std::optional<int64_t> OwnedView::TotalEnds(uint32_t partition,
                                            std::span<const LabelId> vertex_labels,
                                            Direction direction,
                                            std::span<const LabelId> labels) const {
  if (!Check(partition).ok()) return std::nullopt;  // who counts is refused then
  return whole_->TotalEnds(partition, vertex_labels, direction, labels);
}

Status OwnedView::Expand(std::span<const VertexRef> vertices, Direction direction,
                         std::span<const LabelId> labels, bool want_edges, ExpandCursor* cursor,
                         size_t limit, Expansion* out) const {
  RETURN_IF_ERROR(CheckVertices(vertices));
  return whole_->Expand(vertices, direction, labels, want_edges, cursor, limit, out);
}

Status OwnedView::ExpandTo(std::span<const VertexRef> vertices, Direction direction,
                           std::span<const LabelId> labels,
                           std::span<const LabelId> neighbour_labels, ExpandCursor* cursor,
                           size_t limit, Expansion* out) const {
  RETURN_IF_ERROR(CheckVertices(vertices));
  return whole_->ExpandTo(vertices, direction, labels, neighbour_labels, cursor, limit, out);
}

Status OwnedView::CountEnds(std::span<const VertexRef> vertices, Direction direction,
                            std::span<const LabelId> labels, DegreeCursor* cursor, size_t limit,
                            std::vector<int64_t>* out) const {
  RETURN_IF_ERROR(CheckVertices(vertices));
  return whole_->CountEnds(vertices, direction, labels, cursor, limit, out);
}

Status OwnedView::VisitEnds(std::span<const VertexRef> vertices, Direction direction,
                            std::span<const LabelId> labels, ExpandCursor* cursor, size_t limit,
                            EndVisitor* visitor) const {
  RETURN_IF_ERROR(CheckVertices(vertices));
  return whole_->VisitEnds(vertices, direction, labels, cursor, limit, visitor);
}

Status OwnedView::ScanValues(uint32_t partition, std::span<const LabelId> labels, KeyId key,
                             ValueCursor* cursor, size_t limit, CountedValues* out) const {
  RETURN_IF_ERROR(Check(partition));
  return whole_->ScanValues(partition, labels, key, cursor, limit, out);
}

Status OwnedView::CountBetween(const VertexPairs& pairs, Direction direction,
                               std::span<const LabelId> labels, int64_t enough,
                               BetweenCursor* cursor, size_t limit,
                               std::vector<int64_t>* out) const {
  RETURN_IF_ERROR(CheckVertices(pairs.vertices));
  return whole_->CountBetween(pairs, direction, labels, enough, cursor, limit, out);
}

Status OwnedView::VertexLabels(std::span<const VertexRef> vertices,
                               std::vector<LabelId>* out) const {
  RETURN_IF_ERROR(CheckVertices(vertices));
  return whole_->VertexLabels(vertices, out);
}

Status OwnedView::VertexIds(std::span<const VertexRef> vertices, Column* out) const {
  RETURN_IF_ERROR(CheckVertices(vertices));
  return whole_->VertexIds(vertices, out);
}

Status OwnedView::EdgeIds(std::span<const EdgeRef> edges, Column* out) const {
  RETURN_IF_ERROR(CheckEdges(edges));
  return whole_->EdgeIds(edges, out);
}

Status OwnedView::ReadVertexProperties(std::span<const VertexRef> vertices,
                                       std::span<const KeyId> keys, ReadBudget* budget,
                                       PropertyRows* out) const {
  RETURN_IF_ERROR(CheckVertices(vertices));
  return whole_->ReadVertexProperties(vertices, keys, budget, out);
}

Status OwnedView::ReadEdgeProperties(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                                     ReadBudget* budget, PropertyRows* out) const {
  RETURN_IF_ERROR(CheckEdges(edges));
  return whole_->ReadEdgeProperties(edges, keys, budget, out);
}

Status OwnedView::ReadVertexColumns(std::span<const VertexRef> vertices,
                                    std::span<const KeyId> keys, ReadBudget* budget,
                                    std::vector<PropertyColumn>* out) const {
  RETURN_IF_ERROR(CheckVertices(vertices));
  return whole_->ReadVertexColumns(vertices, keys, budget, out);
}

Status OwnedView::ReadEdgeColumns(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                                  ReadBudget* budget, std::vector<PropertyColumn>* out) const {
  RETURN_IF_ERROR(CheckEdges(edges));
  return whole_->ReadEdgeColumns(edges, keys, budget, out);
}

}  // namespace koios::storage
