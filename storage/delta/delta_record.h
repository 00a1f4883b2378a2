// DeltaRecord: what a group of commits changed, in the order in which it did: the log of what
// snapshots do not have yet, and what a delta is made of. On disk: never renumber.
//   before varint           the version that the group began at
//   (kind 1 | element 8 | rest, length first)*
//   rest: of an addition or change the element's record (records.h); of a dropped vertex its label
//   varint and id bytes; of a dropped edge its record without id and properties
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/status.h"
#include "core/types.h"

namespace koios::storage {

enum class ChangeKind : uint8_t {
  kAddVertex = 1,
  kSetVertex = 2,  // properties
  kDropVertex = 3,
  kAddEdge = 4,
  kSetEdge = 5,
  kDropEdge = 6,
};

class DeltaRecord {
 public:
  // `version`: the graph's before the changes.
  explicit DeltaRecord(uint64_t version);

  void AddVertex(VertexRef vertex, std::string_view record);
  void SetVertex(VertexRef vertex, std::string_view record);
  void DropVertex(VertexRef vertex, LabelId label, std::string_view id_bytes);
  void AddEdge(uint64_t edge_id, std::string_view record);
  void SetEdge(uint64_t edge_id, std::string_view record);
  void DropEdge(const EdgeRef& edge);

  const std::string& bytes() const { return bytes_; }
  // Memory that it takes in a delta of a graph whose vertices are told by so many pages of
  // TouchedBits, with room to spare.
  size_t MostDeltaBytes(uint64_t touched_pages) const;

 private:
  void Append(ChangeKind kind, uint64_t element, std::string_view rest);
  std::string bytes_;
  size_t num_changes_ = 0;
};

// Walks the changes of a record:
//   DeltaRecordReader reader(bytes);
//   while (reader.Next()) use(reader.kind(), reader.element(), reader.rest());
//   RETURN_IF_ERROR(reader.status());
class DeltaRecordReader {
 public:
  explicit DeltaRecordReader(std::string_view bytes);
  uint64_t version_before() const { return version_before_; }
  bool Next();
  ChangeKind kind() const { return kind_; }
  uint64_t element() const { return element_; }
  std::string_view rest() const { return rest_; }
  const Status& status() const { return status_; }  // DATA_LOSS

 private:
  std::string_view left_;
  uint64_t version_before_ = 0;
  ChangeKind kind_ = ChangeKind::kAddVertex;
  uint64_t element_ = 0;
  std::string_view rest_;
  Status status_;
};

// The rest of a kDropVertex.
struct DroppedVertex {
  LabelId label = kNoName;
  std::string_view id_bytes;
};
StatusOr<DroppedVertex> ParseDroppedVertex(std::string_view rest);

}  // namespace koios::storage
