// The graph as the evaluator has it: a plain map, read from a view once, then changed by itself.
// It knows nothing of transactions. What two runs add has other references in each, so graphs are
// compared by what can be said of their vertices without them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/types.h"
#include "storage/graph_view.h"

namespace koios::simulation {

class GraphState {
 public:
  struct Vertex {
    std::optional<int64_t> number;   // the property 'n'
    std::vector<VertexRef> out, in;  // the other ends of its edges, a self-loop's in both
  };

  // What the view has of vertices 'v' and edges 'e', each end as it is read at its vertex.
  static GraphState Read(const storage::GraphView& view);

  const std::map<VertexRef, Vertex>& vertices() const { return vertices_; }
  // REQUIRES: it is there.
  const Vertex& At(VertexRef vertex) const { return vertices_.at(vertex); }

  // Its reference is one that no graph gives.
  VertexRef AddVertex(std::optional<int64_t> number);
  // REQUIRES: both are there.
  void AddEdge(VertexRef from, VertexRef to);
  void SetNumber(VertexRef vertex, std::optional<int64_t> number);
  // What is not there (any more) is passed over.
  void DropEdges(VertexRef vertex, Direction direction);
  void DropVertex(VertexRef vertex);

  // Of each vertex a hash of what it is: of those of `before` their reference, of all their number
  // and, three hops far, those of their neighbours. So it is another one when an edge, a number or
  // a vertex is missing, and the same whatever references new vertices have.
  std::map<VertexRef, int64_t> Likenesses(const GraphState& before) const;

 private:
  std::map<VertexRef, Vertex> vertices_;
  uint64_t num_added_ = 0;
};

// Empty when they are alike, else what they differ in.
std::string Difference(const std::map<VertexRef, int64_t>& expected,
                       const std::map<VertexRef, int64_t>& found);

}  // namespace koios::simulation
