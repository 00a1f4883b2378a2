#include "storage/view/touched_rows.h"

namespace koios::storage {

TouchedVertices::TouchedVertices(const DeltaAt& at, std::span<const VertexRef> vertices)
    : vertices_(vertices) {
  if (at.delta == nullptr || at.delta->empty()) return;
  const uint32_t num_partitions = at.delta->num_partitions();
  for (uint32_t row = 0; row < vertices.size(); ++row) {
    const VertexRef vertex = vertices[row];
    if (vertex.partition() >= num_partitions) continue;
    const PartitionDelta& partition = at.delta->Of(vertex.partition());
    if ((partition.Touched(vertex.local()) & TouchedBits::kRecord) == 0) continue;
    TouchedRow touched{row, false, {}};
    const DeltaState state = partition.FindVertex(vertex.local(), at.version, &touched.record);
    if (state == DeltaState::kAsInBase) continue;
    touched.gone = state == DeltaState::kGone;
    if (rows_.empty()) masked_.assign(vertices.begin(), vertices.end());
    masked_[row] = kNobody;
    rows_.push_back(touched);
  }
}

TouchedEdges::TouchedEdges(const DeltaAt& at, std::span<const EdgeRef> edges) : edges_(edges) {
  if (at.delta == nullptr || at.delta->empty()) return;
  const uint32_t num_partitions = at.delta->num_partitions();
  for (uint32_t row = 0; row < edges.size(); ++row) {
    const EdgeRef& edge = edges[row];
    if (edge.out.partition() >= num_partitions) continue;
    const PartitionDelta& partition = at.delta->Of(edge.out.partition());
    if ((partition.Touched(edge.out.local()) & TouchedBits::kOutEdges) == 0) continue;
    TouchedRow touched{row, false, {}};
    const DeltaState state = partition.FindEdge(edge, at.version, &touched.record);
    if (state == DeltaState::kAsInBase) continue;
    touched.gone = state == DeltaState::kGone;
    if (rows_.empty()) masked_.assign(edges.begin(), edges.end());
    masked_[row].out = kNobody;
    rows_.push_back(touched);
  }
}

}  // namespace koios::storage
