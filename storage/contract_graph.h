// The graph that graph_view_contract.h asks about, as a batch, and what a backend makes of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/testing/make_value.h"
#include "core/types.h"
#include "core/value.h"
#include "storage/graph_view.h"
#include "storage/write_batch.h"

namespace koios::storage {

struct BuiltGraph {
  std::shared_ptr<const GraphView> view;
  // As the batch's.
  std::vector<VertexRef> vertices;
  std::vector<EdgeRef> edges;
  std::vector<Value> vertex_ids, edge_ids;
};

// Makes a graph of a batch's vertices and edges, with indexes of vertices on (label, keys).
struct ContractBackend {
  using Indexes = std::vector<std::pair<std::string, std::vector<std::string>>>;

  virtual ~ContractBackend() = default;
  virtual BuiltGraph Build(const WriteBatch& batch) = 0;

  Indexes indexes;
};

// What a contract is instantiated with: testing::Values(&MakeBackend<One>, ...).
using BackendMaker = std::unique_ptr<ContractBackend> (*)();
template <typename Backend>
std::unique_ptr<ContractBackend> MakeBackend() {
  return std::make_unique<Backend>();
}

// Six vertices of three labels; a self-loop, parallel edges, a hub, an isolated vertex; ids of both
// kinds, given and assigned.
inline WriteBatch ContractBatch() {
  WriteBatch batch;
  auto vertex = [&](std::optional<Value> id, std::string label, PropertyList properties) {
    batch.vertices.push_back({std::move(id), std::move(label), std::move(properties)});
  };
  auto edge = [&](std::optional<Value> id, uint32_t out, std::string label, uint32_t in,
                  PropertyList properties = {}) {
    batch.edges.push_back({std::move(id), std::move(label), VertexHandle{out, {}},
                           VertexHandle{in, {}}, std::move(properties)});
  };
  vertex(Value::Int(1), "person", {{"name", Value::String("marko")}, {"age", Value::Int(29)}});
  vertex(Value::Long(-2), "person", {{"name", Value::String("vadas")}, {"age", Value::Long(27)}});
  vertex(Value::String("lop"), "software", {{"lang", Value::String("java")}});
  vertex(Value::String("17"), "software", {});
  vertex(Value::Short(17), "person", {{"name", Value::String("josh")}, {"name", Value::Null()}});
  vertex(std::nullopt, "place", {{"tags", ListOf({Value::Int(1), Value::String("x")})}});
  vertex(Value::String("8"), "hub", {});
  vertex(Value::Long(9), "person", {{"name", Value::String("alone")}});
  edge(Value::Long(7), 0, "knows", 1, {{"weight", Value::Double(0.5)}});
  edge(Value::String("e8"), 0, "knows", 4, {{"weight", Value::Double(1.0)}});
  edge(std::nullopt, 0, "created", 2, {{"weight", Value::Double(0.4)}, {"since", Value::Int(3)}});
  edge(std::nullopt, 0, "created", 2);
  edge(std::nullopt, 4, "created", 3);
  edge(std::nullopt, 4, "knows", 4);
  for (uint32_t i = 0; i < 24; ++i) edge(std::nullopt, 6, i % 3 == 0 ? "knows" : "in", i % 6);
  for (uint32_t i = 0; i < 9; ++i) edge(std::nullopt, i % 6, "in", 6);
  return batch;
}

}  // namespace koios::storage
