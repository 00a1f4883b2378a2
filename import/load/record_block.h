// The records that one chunk of rows becomes, on their way from a parsing thread to the sorters, by
// the bin of their key's partition (bins.h).
// Vertex: key = key of the id family; value = source | vertex record (storage/codec/records.h).
//   Without an id of its own it has the id 0, replaced later, and waits apart.
// Edge: value ends with the edge's payload, which is its id bytes, length first, and properties.
//   ends known:     key = partition 2 | label 4 | out local 6 | in vertex 8; value = payload
//   not yet:        key = the in end's key in the id family; value = Unresolved | payload
//   with an id:     apart, key = key of the id; value = source | key as above, length first | rest.
//     Of an end that is not there: no key, and the rest is its column | its id bytes
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "import/load/bad_rows.h"
#include "import/load/bins.h"
#include "import/load/id_table.h"
#include "import/sort/record_chunk.h"
#include "import/sort/record_order.h"

namespace koios::import {

// Where a record came from, for the report.
struct RecordSource {
  uint32_t file = 0;
  uint64_t line = 0;
  uint64_t offset = 0;
};
void PutSource(const RecordSource& source, std::string* out);
bool GetSource(std::string_view* input, RecordSource* source);
// What the import wrote is not there any more as it was: DATA_LOSS.
Status DamagedRecord();

inline constexpr size_t kEdgeKeySize = 20;
// Exchanges label and out vertex in the keys of edges: by vertex, then label.
inline constexpr KeySwap kByOutVertex{2, 6, 12};
struct EdgeKeyParts {
  VertexRef out, in;
  LabelId label = kNoName;
};
void PutEdgeKey(const EdgeKeyParts& parts, std::string* out);
// REQUIRES: kEdgeKeySize bytes.
EdgeKeyParts ReadEdgeKey(std::string_view key);
// The same of a key with label and out vertex exchanged.
EdgeKeyParts ReadEdgeKeyByOutVertex(std::string_view key);

struct RecordBlock {
  explicit RecordBlock(const Bins& bins) : records(bins.size()), with_id(bins.size()) {}

  // Bad rows are kept packed: a chunk can hold nothing but them.
  void AddBad(const BadRow& row);
  template <typename F>
  Status ForEachBad(F f) const;

  std::vector<RecordChunk> records, with_id;  // by bin
  RecordChunk without_id;                     // vertices
  uint64_t num_rows = 0;                      // read, bad ones included
  int64_t max_int_id = 0;                     // of vertices
  IdCounts ids;                               // of vertices
  // Of vertices whose id is in a space: people look for them by what the id was.
  std::set<LabelId> labels_in_space;

 private:
  // Takes the bad row off the front of *bytes.
  static BadRow UnpackBad(std::string_view* bytes);

  std::string bad_bytes_;
};

template <typename F>
Status RecordBlock::ForEachBad(F f) const {
  std::string_view rest = bad_bytes_;
  while (!rest.empty()) RETURN_IF_ERROR(f(UnpackBad(&rest)));
  return OkStatus();
}

}  // namespace koios::import
