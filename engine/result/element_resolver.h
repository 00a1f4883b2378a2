// ElementResolver: what clients see of the elements in one batch. Collect() every value first, then
// Load() looks all of them up with one call per kind and column, then Resolve() each value.
// Used once, for one batch, by one thread.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "core/column.h"
#include "core/status.h"
#include "core/value.h"
#include "engine/result/with_elements.h"
#include "storage/graph_view.h"

namespace koios::engine {

// A reference and the element that it stands for, from a list of the two.
struct DetachedElement {
  static StatusOr<DetachedElement> Of(const Value& pair);
  Value reference;                       // a vertex or an edge
  const ElementData* element = nullptr;  // of `pair`
};

class ElementResolver {
 public:
  explicit ElementResolver(const storage::GraphView& view, bool materialize = false)
      : view_(view), materialize_(materialize) {}

  void Collect(const Value& value);
  void Collect(VertexRef vertex);
  void Collect(const EdgeRef& edge);
  // Asked with what something takes in all by now, bytes; an error ends it.
  using Read = std::function<Status(size_t bytes)>;
  // As Collect(value). `read`: asked with ElementBytes() whenever a few more were found.
  Status Collect(const Value& value, const Read& read);
  // `read`: asked with what the properties have that were read, after those of a few elements each.
  Status Load(const Read& read = [](size_t) { return OkStatus(); });
  const std::vector<VertexRef>& vertices() const { return vertices_; }  // and ends of edges
  const std::vector<EdgeRef>& edges() const { return edges_; }

  // What loading takes beside properties, about, bytes: each element once, however often it comes.
  size_t ElementBytes() const;

  // The same value with every reference in it replaced by an element, which those to the same one
  // share. REQUIRES: collected, loaded.
  // RESOURCE_EXHAUSTED where an element is deeper than a reference may be.
  StatusOr<Value> Resolve(const Value& value) const;
  const ElementData& Resolve(VertexRef vertex) const;
  const ElementData& Resolve(const EdgeRef& edge) const;
  StatusOr<Value> Of(VertexRef vertex) const;
  StatusOr<Value> Of(const EdgeRef& edge) const;

 private:
  Status LoadVertices(const Read& read);
  Status LoadEdges(const Read& read);
  template <typename Ref, typename Properties>
  Status LoadProperties(const std::vector<Ref>& refs, const std::vector<ElementData*>& targets,
                        const Properties& properties_of, const Read& read);
  void PutEnds();
  Status Finish();
  std::string LabelName(LabelId label) const;

  const storage::GraphView& view_;
  const bool materialize_;
  // Distinct references in the order of first sight; position in the vectors below.
  std::unordered_map<uint64_t, uint32_t> vertex_rows_;
  std::unordered_map<uint64_t, uint32_t> edge_rows_;
  // Vertices that are results themselves; the ends of edges are looked up without properties.
  std::vector<VertexRef> vertices_;
  std::vector<bool> vertex_is_end_only_;
  std::vector<EdgeRef> edges_;
  std::vector<ElementData> vertex_elements_;  // until they are values
  std::vector<ElementData> edge_elements_;
  ValueList vertex_values_, edge_values_;
  size_t read_bytes_ = 0;
  size_t num_asked_ = 0;  // references
};

}  // namespace koios::engine
