#include "storage/codec/keys.h"

#include <bit>
#include <cstring>

#include "storage/codec/element_id.h"

namespace koios::storage {
namespace {

template <typename T>
T ToBigEndian(T v) {
  if constexpr (std::endian::native == std::endian::little) {
    if constexpr (sizeof(T) == 2) return __builtin_bswap16(v);
    if constexpr (sizeof(T) == 4) return __builtin_bswap32(v);
    if constexpr (sizeof(T) == 8) return __builtin_bswap64(v);
  }
  return v;
}

template <typename T>
void Put(T v, std::string* out) {
  v = ToBigEndian(v);
  out->append(reinterpret_cast<const char*>(&v), sizeof(v));
}

template <typename T>
T Get(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof(v));
  return ToBigEndian(v);
}

Status DamagedKey(Family family) {
  return DataLoss("A key of the family '" + std::string(FamilyName(family)) + "' is damaged.");
}

}  // namespace

std::string_view FamilyName(Family family) {
  switch (family) {
    case Family::kMeta:
      return "default";
    case Family::kVertices:
      return "vertices";
    case Family::kVertexLabels:
      return "vertex_labels";
    case Family::kVertexIds:
      return "vertex_ids";
    case Family::kEdges:
      return "edges";
    case Family::kEdgeEnds:
      return "edge_ends";
    case Family::kEdgeIds:
      return "edge_ids";
    case Family::kVertexIndex:
      return "vertex_index";
  }
  return "";
}

void PutBigEndian16(uint16_t v, std::string* out) { Put(v, out); }
void PutBigEndian32(uint32_t v, std::string* out) { Put(v, out); }
void PutBigEndian64(uint64_t v, std::string* out) { Put(v, out); }
void PutBigEndian48(uint64_t v, std::string* out) {
  v = ToBigEndian(v << 16);
  out->append(reinterpret_cast<const char*>(&v), 6);
}

uint16_t GetBigEndian16(const char* p) { return Get<uint16_t>(p); }
uint32_t GetBigEndian32(const char* p) { return Get<uint32_t>(p); }
uint64_t GetBigEndian64(const char* p) { return Get<uint64_t>(p); }
uint64_t GetBigEndian48(const char* p) {
  uint64_t v = 0;
  std::memcpy(&v, p, 6);
  return ToBigEndian(v) >> 16;
}
void StoreBigEndian64(uint64_t v, char* p) {
  v = ToBigEndian(v);
  std::memcpy(p, &v, sizeof(v));
}

EdgeEnd OutEnd(const EdgeRef& edge) {
  return {edge.out, Direction::kOut, edge.label, edge.in, edge.id};
}
EdgeEnd InEnd(const EdgeRef& edge) {
  return {edge.in, Direction::kIn, edge.label, edge.out, edge.id};
}

std::string PartitionKey(uint32_t partition) {
  std::string key;
  PutBigEndian16(static_cast<uint16_t>(partition), &key);
  return key;
}

std::string VertexKey(VertexRef vertex) {
  std::string key;
  PutBigEndian64(vertex.bits, &key);
  return key;
}

std::string VertexLabelPrefix(uint32_t partition, LabelId label) {
  std::string key = PartitionKey(partition);
  PutBigEndian32(label, &key);
  return key;
}

std::string VertexLabelKey(VertexRef vertex, LabelId label) {
  std::string key = VertexLabelPrefix(vertex.partition(), label);
  PutBigEndian48(vertex.local(), &key);
  return key;
}

std::string VertexIdKey(std::string_view id_bytes, uint32_t num_partitions) {
  std::string key = PartitionKey(PartitionOfIdBytes(id_bytes, num_partitions));
  key.append(id_bytes);
  return key;
}

std::string EdgeKey(uint64_t edge_id) {
  std::string key;
  PutBigEndian64(edge_id, &key);
  return key;
}

std::string EdgeEndKey(const EdgeEnd& end) {
  std::string key;
  key.reserve(kEdgeEndKeySize);
  PutBigEndian64(end.vertex.bits, &key);
  key.push_back(static_cast<char>(end.direction));
  PutBigEndian32(end.label, &key);
  PutBigEndian64(end.neighbour.bits, &key);
  PutBigEndian64(end.edge_id, &key);
  return key;
}

std::string EdgeIdKey(std::string_view id_bytes, uint32_t num_partitions) {
  return VertexIdKey(id_bytes, num_partitions);
}

std::string VertexIndexPrefix(uint32_t partition, uint32_t index) {
  std::string bytes = PartitionKey(partition);
  PutBigEndian32(index, &bytes);
  return bytes;
}

std::string VertexIndexKey(VertexRef vertex, uint32_t index, std::string_view places) {
  std::string bytes = VertexIndexPrefix(vertex.partition(), index);
  bytes.append(places);
  PutBigEndian48(vertex.local(), &bytes);
  return bytes;
}

StatusOr<VertexRef> DecodeVertexKey(std::string_view key) {
  if (key.size() != kVertexKeySize) return DamagedKey(Family::kVertices);
  return VertexRef{GetBigEndian64(key.data())};
}

Status DecodeVertexLabelKey(std::string_view key, VertexRef* vertex, LabelId* label) {
  if (key.size() != kVertexLabelKeySize) return DamagedKey(Family::kVertexLabels);
  *label = GetBigEndian32(key.data() + 2);
  *vertex = VertexRef::Make(GetBigEndian16(key.data()), GetBigEndian48(key.data() + 6));
  return *label == kNoName ? DamagedKey(Family::kVertexLabels) : OkStatus();
}

StatusOr<uint64_t> DecodeEdgeKey(std::string_view key) {
  if (key.size() != kEdgeKeySize) return DamagedKey(Family::kEdges);
  return GetBigEndian64(key.data());
}

Status DecodeEdgeEndKey(std::string_view key, EdgeEnd* end) {
  if (key.size() != kEdgeEndKeySize) return DamagedKey(Family::kEdgeEnds);
  const char* p = key.data();
  const auto direction = static_cast<uint8_t>(p[8]);
  if (direction > static_cast<uint8_t>(Direction::kIn)) return DamagedKey(Family::kEdgeEnds);
  end->vertex.bits = GetBigEndian64(p);
  end->direction = static_cast<Direction>(direction);
  end->label = GetBigEndian32(p + 9);
  end->neighbour.bits = GetBigEndian64(p + 13);
  end->edge_id = GetBigEndian64(p + 21);
  return OkStatus();
}

Status DecodeVertexIndexKey(std::string_view key, IndexEntry* entry) {
  constexpr size_t kBefore = 6, kBehind = 6;
  if (key.size() <= kBefore + kBehind) return DamagedKey(Family::kVertexIndex);
  const char* p = key.data();
  entry->vertex = VertexRef::Make(GetBigEndian16(p), GetBigEndian48(p + key.size() - kBehind));
  entry->index = GetBigEndian32(p + 2);
  entry->places = key.substr(kBefore, key.size() - kBefore - kBehind);
  return OkStatus();
}

Status SplitIdKey(std::string_view key, uint32_t* partition, std::string_view* id_bytes) {
  if (key.size() < 3) return DamagedKey(Family::kVertexIds);
  *partition = GetBigEndian16(key.data());
  *id_bytes = key.substr(2);
  return OkStatus();
}

std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

}  // namespace koios::storage
