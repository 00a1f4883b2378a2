// ElementIds: users' ids in place of references, for comparing values in an order that users see.
// Collect() what there is, Load() all ids at once, then Resolve().
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/status.h"
#include "core/value.h"
#include "storage/graph_view.h"

namespace koios::engine {

class ElementIds {
 public:
  explicit ElementIds(const storage::GraphView& view) : view_(view) {}

  // Whether the value is, or has inside, an element or a property of a vertex. Recursion is bounded
  // by the depth of values.
  bool Collect(const Value& value);
  Status Load();
  // Instead: ids that were read where the elements are, as detached(element) gives them.
  Status LoadFrom(const ValueList& detached);
  const std::vector<VertexRef>& vertices() const { return vertices_; }
  const std::vector<EdgeRef>& edges() const { return edges_; }
  // The value with detached elements that have nothing but their ids. A vertex's property has its
  // owner's id and its key's number: the properties of a vertex order as their keys were first
  // used.
  StatusOr<Value> Resolve(const Value& value) const;

 private:
  StatusOr<Value> Detached(ElementData::Type type, Value id) const;
  Value IdOf(VertexRef vertex) const;

  const storage::GraphView& view_;
  std::vector<VertexRef> vertices_;
  std::vector<EdgeRef> edges_;
  absl::flat_hash_map<uint64_t, Value> vertex_ids_, edge_ids_;
};

}  // namespace koios::engine
