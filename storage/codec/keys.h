// The keys of the store, one column family per kind. All numbers are big-endian, so that keys order
// as the numbers do; every key but meta's begins with the partition in 2 bytes. On disk: never
// change a layout, never renumber a family; add a new one and raise kFormatVersion.
//
//   family         key                                                      value
//   meta           see meta_codec.h
//   vertices       partition 2 | local 6                                    vertex record
//   vertex_labels  partition 2 | label 4 | local 6                          empty
//   vertex_ids     partition 2 (hash of the id) | id bytes                  vertex 8
//   edges          partition 2 (the out vertex's) | edge local 6            edge record
//   edge_ends      vertex 8 | direction 1 | label 4 | neighbour 8 | edge 8  empty
//   edge_ids       partition 2 (hash of the edge id) | id bytes             edge 8
//   vertex_index   partition 2 | index 4 | places of values | local 6       empty
//
// A vertex has one key in each of vertices, vertex_labels, vertex_ids, and one in vertex_index for
// each index that it belongs to (index_entry.h). An edge has one in edges, two in edge_ends (at its
// out vertex with direction kOut, at its in vertex with kIn), and one in edge_ids when its id was
// given; an assigned id is the edge's own number. Records: records.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/status.h"
#include "core/types.h"

namespace koios::storage {

inline constexpr uint32_t kFormatVersion = 5;

enum class Family : uint8_t {
  kMeta = 0,
  kVertices = 1,
  kVertexLabels = 2,
  kVertexIds = 3,
  kEdges = 4,
  kEdgeEnds = 5,
  kEdgeIds = 6,
  kVertexIndex = 7,
};
inline constexpr size_t kNumFamilies = 8;
// As RocksDB knows them; meta lives in its default family.
std::string_view FamilyName(Family family);

void PutBigEndian16(uint16_t v, std::string* out);
void PutBigEndian32(uint32_t v, std::string* out);
void PutBigEndian48(uint64_t v, std::string* out);
// Signed numbers order as their bytes when it is turned.
inline constexpr uint64_t kSignBit = uint64_t{1} << 63;
void PutBigEndian64(uint64_t v, std::string* out);
// REQUIRES: that many bytes at `p`.
uint16_t GetBigEndian16(const char* p);
uint32_t GetBigEndian32(const char* p);
uint64_t GetBigEndian48(const char* p);
uint64_t GetBigEndian64(const char* p);
void StoreBigEndian64(uint64_t v, char* p);

// One end of an edge, as its vertex sees it.
struct EdgeEnd {
  VertexRef vertex;
  Direction direction = Direction::kOut;  // kOut or kIn
  LabelId label = kNoName;
  VertexRef neighbour;
  uint64_t edge_id = 0;

  EdgeRef edge() const {
    return direction == Direction::kOut ? EdgeRef{edge_id, vertex, neighbour, label}
                                        : EdgeRef{edge_id, neighbour, vertex, label};
  }
  bool operator==(const EdgeEnd&) const = default;
};
EdgeEnd OutEnd(const EdgeRef& edge);
EdgeEnd InEnd(const EdgeRef& edge);

inline constexpr size_t kVertexKeySize = 8;
inline constexpr size_t kVertexLabelKeySize = 12;
inline constexpr size_t kEdgeKeySize = 8;
inline constexpr size_t kEdgeEndKeySize = 29;
// Indexes are numbered from here. Up to format 4 labels stood in this place of vertex_index, with
// hashes of values behind them.
inline constexpr uint32_t kFirstIndexId = uint32_t{1} << 31;

std::string PartitionKey(uint32_t partition);
std::string VertexKey(VertexRef vertex);
std::string VertexLabelPrefix(uint32_t partition, LabelId label);
std::string VertexLabelKey(VertexRef vertex, LabelId label);
std::string VertexIdKey(std::string_view id_bytes, uint32_t num_partitions);
std::string EdgeKey(uint64_t edge_id);
std::string EdgeEndKey(const EdgeEnd& end);
std::string EdgeIdKey(std::string_view id_bytes, uint32_t num_partitions);
std::string VertexIndexPrefix(uint32_t partition, uint32_t index);
std::string VertexIndexKey(VertexRef vertex, uint32_t index, std::string_view places);

// The values of vertex_ids and edge_ids are VertexKey and EdgeKey of what the id names.

// All check the size and what they can; DATA_LOSS else.
StatusOr<VertexRef> DecodeVertexKey(std::string_view key);
Status DecodeVertexLabelKey(std::string_view key, VertexRef* vertex, LabelId* label);
StatusOr<uint64_t> DecodeEdgeKey(std::string_view key);
Status DecodeEdgeEndKey(std::string_view key, EdgeEnd* end);
// One entry of vertex_index; a view into its key.
struct IndexEntry {
  VertexRef vertex;
  uint32_t index = 0;
  std::string_view places;
};
Status DecodeVertexIndexKey(std::string_view key, IndexEntry* entry);
// The partition and the id bytes of a key of vertex_ids or edge_ids.
Status SplitIdKey(std::string_view key, uint32_t* partition, std::string_view* id_bytes);

// The smallest key after all that begin with `prefix`; empty when there is none.
std::string PrefixEnd(std::string_view prefix);

}  // namespace koios::storage
