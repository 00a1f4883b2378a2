// CommitRecord: all that a commit is: who asks, what it read, the keys that decide it, and what it
// changes. The transaction builds it; from then on nobody reads the graph to decide. It can travel
// as bytes. Its changes speak of names and references; what a store makes of those that it accepts
// (delta/delta_record.h) are records of elements, merged with what was there and under the graph's
// own numbers for names, which nobody knows before the commit has its place in the order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "core/types.h"
#include "core/value.h"
#include "storage/conflict/conflict_window.h"
#include "storage/write_batch.h"

namespace koios::storage {

struct ChangeEdgeProperty {
  uint64_t number = 0;
  std::string key;
  std::optional<Value> value;  // nullopt: removed
};

struct CommitRecord {
  RequestId request;     // not null
  uint32_t attempt = 0;  // of the request: only one of them is ever committed
  uint64_t read_version = 0;
  ConflictKeys keys;
  std::vector<AddedVertex> vertices;  // each with its id and reference
  std::vector<AddedEdge> edges;       // each with its number, unless an end is dropped as well
  std::vector<SetVertexProperty> vertex_properties;
  std::vector<ChangeEdgeProperty> edge_properties;
  std::vector<VertexRef> dropped_vertices;  // ascending
  std::vector<uint64_t> dropped_edges;      // numbers, ascending; those of dropped vertices, too

  bool HasChanges() const {
    return !vertices.empty() || !edges.empty() || !vertex_properties.empty() ||
           !edge_properties.empty() || !dropped_vertices.empty() || !dropped_edges.empty();
  }
};

// Format: commit_record.cc. REQUIRES: what CheckRecord (commit_limits.h) asks for.
std::string EncodeCommitRecord(const CommitRecord& record);
// DATA_LOSS that says at which byte, for whatever EncodeCommitRecord does not make. What comes out
// takes memory in proportion to `bytes`.
StatusOr<CommitRecord> DecodeCommitRecord(std::string_view bytes);

}  // namespace koios::storage
