#include "storage/codec/records.h"

#include <algorithm>
#include <limits>

#include "core/value_codec.h"
#include "storage/codec/element_id.h"
#include "storage/codec/index_entry.h"
#include "storage/store_errors.h"

namespace koios::storage {
namespace {

Status DamagedVertex() { return DataLoss("A vertex record is damaged."); }
Status DamagedEdge() { return DataLoss("An edge record is damaged."); }

void AppendProperties(std::span<const std::pair<KeyId, Value>> properties, std::string* out) {
  for (const auto& [key, value] : properties) AppendProperty(key, value, out);
}

static_assert(kSeveralValues > static_cast<uint8_t>(ValueKind::kDirection));

bool HasSeveralLabels(std::string_view vertex_record) {
  return !vertex_record.empty() && vertex_record[0] == '\0';
}

bool GetName(std::string_view* input, uint32_t* name) {
  uint64_t number = 0;
  if (!GetVarint(input, &number)) return false;
  if (number == kNoName || number > std::numeric_limits<uint32_t>::max()) return false;
  *name = static_cast<uint32_t>(number);
  return true;
}

}  // namespace

void SortProperties(KeyedProperties* properties) {
  std::stable_sort(properties->begin(), properties->end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  size_t kept = 0;
  for (size_t i = 0; i < properties->size(); ++i) {
    const bool replaced =
        i + 1 < properties->size() && (*properties)[i + 1].first == (*properties)[i].first;
    if (replaced) continue;
    if (kept != i) (*properties)[kept] = std::move((*properties)[i]);
    ++kept;
  }
  properties->resize(kept);
}

std::string EncodeVertexRecord(LabelId label, const Value& id,
                               std::span<const std::pair<KeyId, Value>> properties) {
  std::string out;
  AppendVertexHead(label, IdBytes(id), &out);
  AppendProperties(properties, &out);
  return out;
}

std::string EncodeEdgeRecord(const EdgeRef& edge, const std::optional<Value>& id,
                             std::span<const std::pair<KeyId, Value>> properties) {
  std::string out;
  AppendEdgeHead(edge.label, edge.in, edge.out, &out);
  PutBytes(id ? IdBytes(*id) : std::string(), &out);
  AppendProperties(properties, &out);
  return out;
}

void AppendVertexHead(LabelId label, std::string_view id_bytes, std::string* out) {
  PutVarint(label, out);
  PutBytes(id_bytes, out);
}

void AppendEdgeHead(LabelId label, VertexRef in, VertexRef out_vertex, std::string* out) {
  PutVarint(label, out);
  PutBigEndian64(in.bits, out);
  PutVarint(out_vertex.local(), out);
}

void AppendProperty(KeyId key, const Value& value, std::string* out) {
  PutVarint(key, out);
  // Most values are short: one byte for the length, put right where they are not.
  const size_t length_at = out->size();
  out->push_back(0);
  EncodeValue(value, out);
  const size_t size = out->size() - length_at - 1;
  if (size < 0x80) {
    (*out)[length_at] = static_cast<char>(size);
    return;
  }
  std::string length;
  PutVarint(size, &length);
  out->replace(length_at, 1, length);
}

void AppendTextProperty(KeyId key, std::string_view text, std::string* out) {
  size_t length_bytes = 1;
  for (size_t rest = text.size() >> 7; rest > 0; rest >>= 7) ++length_bytes;
  PutVarint(key, out);
  PutVarint(1 + length_bytes + text.size(), out);
  out->push_back(static_cast<char>(ValueKind::kString));
  PutBytes(text, out);
}

Status ParseVertexRecord(std::string_view bytes, VertexRecord* out) {
  if (HasSeveralLabels(bytes)) return OfNewerVersion("vertices with several labels");
  if (!GetName(&bytes, &out->label)) return DamagedVertex();
  if (!GetBytes(&bytes, &out->id_bytes) || out->id_bytes.empty()) return DamagedVertex();
  out->properties = bytes;
  return OkStatus();
}

Status ParseEdgeRecord(uint64_t edge_id, std::string_view bytes, EdgeRecord* out) {
  uint64_t out_local = 0;
  out->edge.id = edge_id;
  if (!GetName(&bytes, &out->edge.label) || bytes.size() < 8) return DamagedEdge();
  out->edge.in.bits = GetBigEndian64(bytes.data());
  bytes.remove_prefix(8);
  if (!GetVarint(&bytes, &out_local) || out_local > kLocalMask) return DamagedEdge();
  out->edge.out = VertexRef::Make(VertexRef{edge_id}.partition(), out_local);
  if (!GetBytes(&bytes, &out->id_bytes)) return DamagedEdge();
  out->properties = bytes;
  return OkStatus();
}

StatusOr<Value> EdgeIdOf(const EdgeRecord& record) {
  if (record.id_bytes.empty()) return Value::Long(static_cast<int64_t>(record.edge.id));
  return DecodeIdBytes(record.id_bytes);
}

StatusOr<LabelId> RecordLabel(std::string_view bytes) {
  LabelId label = kNoName;
  if (HasSeveralLabels(bytes)) return OfNewerVersion("vertices with several labels");
  if (!GetName(&bytes, &label)) return DataLoss("A record's label is damaged.");
  return label;
}

bool PropertyReader::Next() {
  if (rest_.empty() || !status_.ok()) return false;
  const KeyId previous = key_;
  if (!GetName(&rest_, &key_) || key_ <= previous || !GetBytes(&rest_, &value_) || value_.empty()) {
    status_ = DataLoss("The properties of a record are damaged.");
    return false;
  }
  if (static_cast<uint8_t>(value_[0]) == kSeveralValues) {
    status_ = OfNewerVersion("several values of a property");
    return false;
  }
  return true;
}

StatusOr<Value> PropertyReader::value() const { return DecodeWholeValue(value_); }

StatusOr<KeyedProperties> DecodeProperties(std::string_view properties) {
  KeyedProperties out;
  PropertyReader reader(properties);
  while (reader.Next()) {
    ASSIGN_OR_RETURN(Value value, reader.value());
    out.emplace_back(reader.key(), std::move(value));
  }
  RETURN_IF_ERROR(reader.status());
  return out;
}

void EncodeVertex(VertexRef vertex, LabelId label, const Value& id,
                  std::span<const std::pair<KeyId, Value>> properties, const VertexIndexes& indexes,
                  uint32_t num_partitions, std::vector<FamilyRecord>* out) {
  out->push_back({Family::kVertices, VertexKey(vertex), EncodeVertexRecord(label, id, properties)});
  out->push_back({Family::kVertexLabels, VertexLabelKey(vertex, label), {}});
  out->push_back({Family::kVertexIds, VertexIdKey(IdBytes(id), num_partitions), VertexKey(vertex)});
  if (indexes.empty()) return;
  std::vector<std::string> keys;
  AppendIndexKeys(indexes, vertex, label, properties, &keys);
  for (std::string& key : keys) out->push_back({Family::kVertexIndex, std::move(key), {}});
}

void EncodeEdge(const EdgeRef& edge, const std::optional<Value>& id,
                std::span<const std::pair<KeyId, Value>> properties, uint32_t num_partitions,
                std::vector<FamilyRecord>* out) {
  out->push_back({Family::kEdges, EdgeKey(edge.id), EncodeEdgeRecord(edge, id, properties)});
  out->push_back({Family::kEdgeEnds, EdgeEndKey(OutEnd(edge)), {}});
  out->push_back({Family::kEdgeEnds, EdgeEndKey(InEnd(edge)), {}});
  if (id) {
    out->push_back({Family::kEdgeIds, EdgeIdKey(IdBytes(*id), num_partitions), EdgeKey(edge.id)});
  }
}

}  // namespace koios::storage
