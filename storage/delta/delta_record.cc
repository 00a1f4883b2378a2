#include "storage/delta/delta_record.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/value_codec.h"
#include "storage/codec/keys.h"
#include "storage/codec/records.h"
#include "storage/delta/touched_bits.h"

namespace koios::storage {
namespace {

// An edge between two vertices that nothing was said of: its node and version, the node, the entry
// and the first links of each end, their places in tables of which the half is empty, and what
// tables had before they grew.
constexpr size_t kMostBytesPerChange = 544;
// With words of its directory, which is as long as the last page is far, once and for all.
constexpr size_t kBytesPerPage = TouchedBits::kLocalsPerPage / 2 + 32;

Status DamagedRecord() { return DataLoss("A record of the log of commits is damaged."); }

}  // namespace

DeltaRecord::DeltaRecord(uint64_t version) { PutVarint(version, &bytes_); }

size_t DeltaRecord::MostDeltaBytes(uint64_t touched_pages) const {
  // A change touches two at most.
  const uint64_t pages = std::min<uint64_t>(2 * num_changes_, touched_pages);
  return 2 * bytes_.size() + kMostBytesPerChange * num_changes_ + kBytesPerPage * pages;
}

void DeltaRecord::Append(ChangeKind kind, uint64_t element, std::string_view rest) {
  ++num_changes_;
  bytes_.push_back(static_cast<char>(kind));
  PutBigEndian64(element, &bytes_);
  PutBytes(rest, &bytes_);
}

void DeltaRecord::AddVertex(VertexRef vertex, std::string_view record) {
  Append(ChangeKind::kAddVertex, vertex.bits, record);
}

void DeltaRecord::SetVertex(VertexRef vertex, std::string_view record) {
  Append(ChangeKind::kSetVertex, vertex.bits, record);
}

void DeltaRecord::DropVertex(VertexRef vertex, LabelId label, std::string_view id_bytes) {
  std::string rest;
  PutVarint(label, &rest);
  rest += id_bytes;
  Append(ChangeKind::kDropVertex, vertex.bits, rest);
}

void DeltaRecord::AddEdge(uint64_t edge_id, std::string_view record) {
  Append(ChangeKind::kAddEdge, edge_id, record);
}

void DeltaRecord::SetEdge(uint64_t edge_id, std::string_view record) {
  Append(ChangeKind::kSetEdge, edge_id, record);
}

void DeltaRecord::DropEdge(const EdgeRef& edge) {
  Append(ChangeKind::kDropEdge, edge.id, EncodeEdgeRecord(edge, std::nullopt, {}));
}

DeltaRecordReader::DeltaRecordReader(std::string_view bytes) : left_(bytes) {
  if (!GetVarint(&left_, &version_before_)) status_ = DamagedRecord();
}

bool DeltaRecordReader::Next() {
  if (!status_.ok() || left_.empty()) return false;
  const auto kind = static_cast<uint8_t>(left_[0]);
  left_.remove_prefix(1);
  const bool known = kind >= static_cast<uint8_t>(ChangeKind::kAddVertex) &&
                     kind <= static_cast<uint8_t>(ChangeKind::kDropEdge);
  if (!known || left_.size() < 8) {
    status_ = DamagedRecord();
    return false;
  }
  kind_ = static_cast<ChangeKind>(kind);
  element_ = GetBigEndian64(left_.data());
  left_.remove_prefix(8);
  if (!GetBytes(&left_, &rest_)) status_ = DamagedRecord();
  return status_.ok();
}

StatusOr<DroppedVertex> ParseDroppedVertex(std::string_view rest) {
  uint64_t label = 0;
  if (!GetVarint(&rest, &label) || label == kNoName ||
      label > std::numeric_limits<LabelId>::max() || rest.empty()) {
    return DamagedRecord();
  }
  return DroppedVertex{static_cast<LabelId>(label), rest};
}

}  // namespace koios::storage
