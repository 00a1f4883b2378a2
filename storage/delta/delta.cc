#include "storage/delta/delta.h"

#include <utility>

#include "storage/codec/records.h"
#include "storage/delta/delta_record.h"

namespace koios::storage {

Delta::Delta(uint32_t num_partitions, std::shared_ptr<DeltaBudget> budget)
    : arena_(std::move(budget)), partitions_(num_partitions) {}

Status Delta::Apply(uint64_t version, std::string_view record) {
  DeltaRecordReader change(record);
  while (change.Next()) {
    switch (change.kind()) {
      case ChangeKind::kAddVertex:
      case ChangeKind::kSetVertex:
      case ChangeKind::kDropVertex:
        RETURN_IF_ERROR(ApplyVertex(version, change));
        break;
      case ChangeKind::kAddEdge:
      case ChangeKind::kSetEdge:
      case ChangeKind::kDropEdge:
        RETURN_IF_ERROR(ApplyEdge(version, change));
        break;
    }
  }
  record_bytes_.fetch_add(record.size(), std::memory_order_relaxed);
  return change.status();
}

Status Delta::ApplyVertex(uint64_t version, DeltaRecordReader& change) {
  const VertexRef vertex{change.element()};
  if (vertex.partition() >= partitions_.size()) {
    return DataLoss("The log of commits names a vertex of no partition.");
  }
  PartitionDelta& partition = partitions_[vertex.partition()];
  if (change.kind() == ChangeKind::kDropVertex) {
    ASSIGN_OR_RETURN(const DroppedVertex dropped, ParseDroppedVertex(change.rest()));
    partition.DropVertex(vertex.local(), dropped.label, dropped.id_bytes, version, &arena_);
    return OkStatus();
  }
  if (change.kind() == ChangeKind::kSetVertex) {
    partition.SetVertex(vertex.local(), change.rest(), version, &arena_);
    return OkStatus();
  }
  VertexRecord record;
  RETURN_IF_ERROR(ParseVertexRecord(change.rest(), &record));
  partition.AddVertex(vertex.local(), record.label, record.id_bytes, change.rest(), version,
                      &arena_);
  return OkStatus();
}

Status Delta::ApplyEdge(uint64_t version, DeltaRecordReader& change) {
  EdgeRecord record;
  RETURN_IF_ERROR(ParseEdgeRecord(change.element(), change.rest(), &record));
  const EdgeRef& edge = record.edge;
  if (edge.out.partition() >= partitions_.size() || edge.in.partition() >= partitions_.size()) {
    return DataLoss("The log of commits names an edge of no partition.");
  }
  PartitionDelta& out = partitions_[edge.out.partition()];
  const bool added = change.kind() == ChangeKind::kAddEdge;
  const bool plain = record.id_bytes.empty() && record.properties.empty();
  if (change.kind() == ChangeKind::kSetEdge || (added && !plain)) {
    out.SetEdge(edge.id, edge.out.local(), change.rest(), version, &arena_);
  }
  if (change.kind() == ChangeKind::kSetEdge) return OkStatus();
  if (!added) out.SetEdge(edge.id, edge.out.local(), {}, version, &arena_);
  out.ChangeEnd(edge.out.local(), Direction::kOut, {edge.label, edge.in.bits, edge.id}, added,
                version, &arena_);
  partitions_[edge.in.partition()].ChangeEnd(edge.in.local(), Direction::kIn,
                                             {edge.label, edge.out.bits, edge.id}, added, version,
                                             &arena_);
  return OkStatus();
}

}  // namespace koios::storage
