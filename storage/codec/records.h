// The records of vertices and edges: label, user's id, properties by key.
//   vertex record: label varint | id bytes, length first | properties
//   edge record:   label varint | in vertex 8 | out local varint | id bytes, length first (empty:
//                  the id was assigned and is the edge's number) | properties
//   properties:    (key varint | value by core/value_codec.h, length first)*, keys ascending
// Parsing trusts nothing and copies nothing; failures are DATA_LOSS.
// What vertices may have once it is there, next to records as they are; until then it is refused
// with FAILED_PRECONDITION, as what a newer version wrote:
//   several labels: label 0 | how many varint | labels varint, ascending
//   several values of a key: as the value kSeveralValues 1 | cardinality 1 (snapshot/format.h) |
//       how many varint | (value id varint | value, length first | its properties, length first)*
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/schema.h"
#include "core/status.h"
#include "core/types.h"
#include "core/value.h"
#include "storage/codec/keys.h"

namespace koios::storage {

// In place of a ValueKind. On disk.
inline constexpr uint8_t kSeveralValues = 64;

// Keys ascending and distinct: see SortProperties.
using KeyedProperties = std::vector<std::pair<KeyId, Value>>;
// Sorts by key; of equal keys the last one stays.
void SortProperties(KeyedProperties* properties);

// REQUIRES (both): `id` is normalised, `properties` sorted.
std::string EncodeVertexRecord(LabelId label, const Value& id,
                               std::span<const std::pair<KeyId, Value>> properties);
std::string EncodeEdgeRecord(const EdgeRef& edge, const std::optional<Value>& id,
                             std::span<const std::pair<KeyId, Value>> properties);

// The same records piece by piece, without Values: a head, of an edge its id bytes with their
// length first (value_codec.h; empty: assigned), and the properties by ascending key.
void AppendVertexHead(LabelId label, std::string_view id_bytes, std::string* out);
void AppendEdgeHead(LabelId label, VertexRef in, VertexRef out_vertex, std::string* out);
void AppendProperty(KeyId key, const Value& value, std::string* out);
void AppendTextProperty(KeyId key, std::string_view text, std::string* out);

// Views into the record's bytes.
struct VertexRecord {
  LabelId label = kNoName;
  std::string_view id_bytes;
  std::string_view properties;
};
struct EdgeRecord {
  EdgeRef edge;
  std::string_view id_bytes;  // empty: assigned
  std::string_view properties;
};
Status ParseVertexRecord(std::string_view bytes, VertexRecord* out);
Status ParseEdgeRecord(uint64_t edge_id, std::string_view bytes, EdgeRecord* out);
// The id as users see it.
StatusOr<Value> EdgeIdOf(const EdgeRecord& record);
// The label alone, of either record.
StatusOr<LabelId> RecordLabel(std::string_view bytes);

// Walks the properties of a record without decoding values:
//   PropertyReader reader(record.properties);
//   while (reader.Next()) use(reader.key(), reader.value_bytes());
//   RETURN_IF_ERROR(reader.status());
class PropertyReader {
 public:
  explicit PropertyReader(std::string_view properties) : rest_(properties) {}
  bool Next();
  KeyId key() const { return key_; }
  std::string_view value_bytes() const { return value_; }
  StatusOr<Value> value() const;
  const Status& status() const { return status_; }

 private:
  std::string_view rest_;
  KeyId key_ = kNoName;
  std::string_view value_;
  Status status_;
};
StatusOr<KeyedProperties> DecodeProperties(std::string_view properties);

// What one vertex or edge puts into the store, ready to be sorted by (family, key).
struct FamilyRecord {
  Family family;
  std::string key;
  std::string value;
};
// Appends the 3 records of a vertex, and its entries in `indexes` (index_entry.h). REQUIRES as
// EncodeVertexRecord; the vertex's partition is its id's.
void EncodeVertex(VertexRef vertex, LabelId label, const Value& id,
                  std::span<const std::pair<KeyId, Value>> properties, const VertexIndexes& indexes,
                  uint32_t num_partitions, std::vector<FamilyRecord>* out);
// Appends the 3 records of an edge, 4 with a given id. REQUIRES as EncodeEdgeRecord; the partition
// of edge.id is the out vertex's.
void EncodeEdge(const EdgeRef& edge, const std::optional<Value>& id,
                std::span<const std::pair<KeyId, Value>> properties, uint32_t num_partitions,
                std::vector<FamilyRecord>* out);

}  // namespace koios::storage
