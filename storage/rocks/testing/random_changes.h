// RandomChanges: commits that add, set and drop at random, drawn from a seed: the same ones in the
// same order to each graph that begins alike, so that a copy goes on as the original would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "storage/rocks/store_state.h"
#include "storage/store_test_support.h"
#include "storage/view/testing/same_views.h"

namespace koios::storage::testing {

class RandomChanges {
 public:
  explicit RandomChanges(uint64_t seed) : random_(seed) {}

  // The next one. The version that shows it; after an error it is of no use any more.
  StatusOr<uint64_t> Commit(GraphStore* store) {
    WriteBatch batch;
    const auto truth = StoreAccess::Of(store).NewestView();
    batch.read_version = truth->version();
    for (uint64_t i = random_.Uniform(3); i > 0; --i) AddVertex(&batch);
    for (uint64_t i = vertices_.empty() ? 0 : random_.Uniform(6); i > 0; --i) AddEdge(&batch);
    if (!vertices_.empty() && random_.Chance(0.5)) {
      batch.vertex_properties.push_back({Vertex(), Key(), Text()});
      if (random_.Chance(0.3)) batch.vertex_properties.back().value = std::nullopt;
    }
    if (!edges_.empty() && random_.Chance(0.5)) {
      batch.edge_properties.push_back({Edge(), Key(), Text()});
      if (random_.Chance(0.3)) batch.edge_properties.back().value = std::nullopt;
    }
    if (vertices_.size() > 15 && random_.Chance(0.25)) DropVertex(*truth, &batch);
    if (edges_.size() > 10 && random_.Chance(0.4)) DropEdge(&batch);
    ASSIGN_OR_RETURN(const CommitResult result, store->Commit(batch));
    for (size_t i = 0; i < batch.vertices.size(); ++i) {
      vertices_.push_back(result.vertices[i]);
      known_.vertices.push_back(result.vertices[i]);
      known_.ids.push_back(result.vertex_ids[i]);
    }
    for (size_t i = 0; i < batch.edges.size(); ++i) {
      if (result.edge_ids[i].is_null()) continue;
      edges_.push_back(result.edges[i]);
      known_.edges.push_back(result.edges[i]);
    }
    return result.version;
  }

  // All that ever was.
  const Known& known() const { return known_; }

 private:
  VertexRef Vertex() { return vertices_[random_.Uniform(vertices_.size())]; }
  EdgeRef Edge() { return edges_[random_.Uniform(edges_.size())]; }
  std::string Key() { return "k" + std::to_string(random_.Uniform(4)); }
  Value Text() {
    if (random_.Chance(0.3)) return Value::Int(static_cast<int32_t>(random_.Uniform(100)));
    return Value::String("t" + std::to_string(random_.Uniform(1000)));
  }
  PropertyList Properties() {
    PropertyList properties;
    for (uint64_t i = random_.Uniform(3); i > 0; --i) properties.emplace_back(Key(), Text());
    return properties;
  }
  void AddVertex(WriteBatch* batch) {
    AddedVertex vertex{std::nullopt, "v" + std::to_string(random_.Uniform(3)), Properties()};
    // An id that was dropped may come again.
    if (!free_ids_.empty() && random_.Chance(0.5)) {
      vertex.id = free_ids_.back();
      free_ids_.pop_back();
    } else if (random_.Chance(0.5)) {
      vertex.id = Value::String("id" + std::to_string(next_id_++));
    }
    batch->vertices.push_back(std::move(vertex));
  }
  void AddEdge(WriteBatch* batch) {
    AddedEdge edge;
    edge.label = "e" + std::to_string(random_.Uniform(4));
    // Some vertices have many edges; some edges are loops, and some parallel.
    edge.out = Existing(random_.Chance(0.3) ? vertices_[0] : Vertex());
    edge.in = random_.Chance(0.1) ? edge.out : Existing(Vertex());
    edge.properties = Properties();
    if (random_.Chance(0.2)) edge.id = Value::String("e" + std::to_string(next_id_++));
    batch->edges.push_back(edge);
    edge.id = std::nullopt;
    while (random_.Chance(0.3)) batch->edges.push_back(edge);
  }
  void DropVertex(const GraphView& truth, WriteBatch* batch) {
    const size_t at = random_.Uniform(vertices_.size());
    const VertexRef dropped = vertices_[at];
    batch->dropped_vertices.push_back(dropped);
    Column id;
    CHECK(truth.VertexIds({&dropped, 1}, &id).ok());
    if (id.Get(0).kind() == ValueKind::kString) free_ids_.push_back(id.Get(0));
    vertices_.erase(vertices_.begin() + static_cast<std::ptrdiff_t>(at));
    std::erase_if(edges_, [&](const EdgeRef& e) { return e.out == dropped || e.in == dropped; });
    std::erase_if(batch->vertex_properties, [&](const auto& set) { return set.vertex == dropped; });
    std::erase_if(batch->edge_properties, [&](const auto& set) {
      return set.edge.out == dropped || set.edge.in == dropped;
    });
  }
  void DropEdge(WriteBatch* batch) {
    const size_t at = random_.Uniform(edges_.size());
    batch->dropped_edges.push_back(edges_[at]);
    std::erase_if(batch->edge_properties, [&](const auto& set) { return set.edge == edges_[at]; });
    edges_.erase(edges_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  Rng random_;
  std::vector<VertexRef> vertices_;  // that are there
  std::vector<EdgeRef> edges_;
  std::vector<Value> free_ids_;
  uint64_t next_id_ = 0;
  Known known_;
};

}  // namespace koios::storage::testing
