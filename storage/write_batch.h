// What one commit changes, gathered by a mutating request and applied whole or not at all: what
// becomes a CommitRecord (transaction/commit_keys.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/types.h"
#include "core/value.h"

namespace koios::storage {

// Asked now and then during a commit; an error ends it, and nothing is changed. Any thread.
using CommitWatch = std::function<Status()>;

// A vertex of this commit is named by its index in WriteBatch::vertices, a stored one by its ref.
struct VertexHandle {
  std::optional<uint32_t> added;  // index into WriteBatch::vertices
  VertexRef existing;
};

using PropertyList = std::vector<std::pair<std::string, Value>>;

struct AddedVertex {
  std::optional<Value> id;  // kLong or kString; assigned when absent
  std::string label;
  PropertyList properties;
  // Both from the store's Numbers. An id that was assigned and is taken meanwhile: ABORTED.
  std::optional<VertexRef> ref = std::nullopt;
  bool assigned = false;
};

struct AddedEdge {
  std::optional<Value> id;
  std::string label;
  VertexHandle out, in;
  PropertyList properties;
  uint64_t number = 0;  // from the store's Numbers; 0: taken at the commit
};

struct SetVertexProperty {
  VertexRef vertex;
  std::string key;
  std::optional<Value> value;  // nullopt: removed
};

struct SetEdgeProperty {
  EdgeRef edge;
  std::string key;
  std::optional<Value> value;
};

// An indexed look-up that the batch based an insert on (mergeV, look-up-or-add): nobody may since
// have set or removed that value. Without a label it means every label.
struct LookupGuard {
  std::optional<std::string> label;
  std::string key;
  Value value;
};

struct WriteBatch {
  uint64_t read_version = 0;  // the view the request read; conflicts are decided against it
  std::vector<AddedVertex> vertices;
  std::vector<AddedEdge> edges;
  std::vector<SetVertexProperty> vertex_properties;
  std::vector<SetEdgeProperty> edge_properties;
  std::vector<VertexRef> dropped_vertices;  // with all their edges
  std::vector<EdgeRef> dropped_edges;
  std::vector<LookupGuard> lookup_guards;
  // Vertex ids likewise: nobody may since have added or dropped a vertex of that id.
  std::vector<Value> id_guards;
  // What else it looked at, as keys of conflict_window.h: adjacency, scans.
  std::vector<uint64_t> guard_keys;
};

}  // namespace koios::storage
