// MemoryGraph: a GraphView in memory, for simulations and tests of the engine. Built by one thread
// with AddVertex and AddEdge, then read by any; it is its own view, always at version 1. Ids,
// partitions, references and orders are those of the store (graph_view_contract.h holds for both).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/schema.h"
#include "storage/codec/keys.h"
#include "storage/codec/records.h"
#include "storage/graph_view.h"
#include "storage/numbers.h"
#include "storage/write_batch.h"

namespace koios::storage {

class MemoryGraph : public GraphView {
 public:
  explicit MemoryGraph(uint32_t num_partitions = 16);

  // Vertices of the label can be sought by the properties.
  void IndexVertices(std::string_view label, const std::vector<std::string>& keys);
  // Errors as from GraphStore::Commit. Without an id one is assigned.
  StatusOr<VertexRef> AddVertex(const std::optional<Value>& id, std::string_view label,
                                const PropertyList& properties = {});
  StatusOr<EdgeRef> AddEdge(VertexRef out, VertexRef in, std::string_view label,
                            const PropertyList& properties = {},
                            const std::optional<Value>& id = std::nullopt);

  // For transactions on this graph: none of its own numbers is given again.
  std::shared_ptr<Numbers> NewNumbers() const;

  uint64_t version() const override { return 1; }
  uint32_t num_partitions() const override { return static_cast<uint32_t>(vertices_.size()); }
  const Schema& schema() const override { return schema_; }
  uint32_t PartitionOfId(const Value& id) const override;
  Status ScanVertices(uint32_t partition, std::span<const LabelId> labels, ScanCursor* cursor,
                      size_t limit, std::vector<VertexRef>* out) const override;
  Status ScanEdges(uint32_t partition, std::span<const LabelId> labels, ExpandCursor* cursor,
                   size_t limit, std::vector<EdgeRef>* out) const override;
  Status SeekVertices(uint32_t partition, const VertexSeek& seek, SeekCursor* cursor, size_t limit,
                      std::vector<VertexRef>* out) const override;
  Status LookupExactVertices(std::span<const Value> ids, std::vector<uint32_t>* rows,
                             std::vector<VertexRef>* out) const override;
  Status LookupEdgeNumbers(std::span<const Value> ids, std::vector<uint32_t>* rows,
                           std::vector<uint64_t>* numbers) const override;
  Status EdgesOfNumbers(std::span<const uint64_t> numbers, std::vector<uint32_t>* rows,
                        std::vector<EdgeRef>* out, std::vector<bool>* given) const override;
  Status Expand(std::span<const VertexRef> vertices, Direction direction,
                std::span<const LabelId> labels, bool want_edges, ExpandCursor* cursor,
                size_t limit, Expansion* out) const override;
  Status CountEnds(std::span<const VertexRef> vertices, Direction direction,
                   std::span<const LabelId> labels, DegreeCursor* cursor, size_t limit,
                   std::vector<int64_t>* out) const override;
  Status CountBetween(const VertexPairs& pairs, Direction direction,
                      std::span<const LabelId> labels, int64_t enough, BetweenCursor* cursor,
                      size_t limit, std::vector<int64_t>* out) const override;
  Status VertexLabels(std::span<const VertexRef> vertices,
                      std::vector<LabelId>* out) const override;
  Status VertexIds(std::span<const VertexRef> vertices, Column* out) const override;
  Status EdgeIds(std::span<const EdgeRef> edges, Column* out) const override;
  Status ReadVertexProperties(std::span<const VertexRef> vertices, std::span<const KeyId> keys,
                              ReadBudget* budget, PropertyRows* out) const override;
  Status ReadEdgeProperties(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                            ReadBudget* budget, PropertyRows* out) const override;

 private:
  struct Vertex {
    LabelId label = kNoName;
    Value id;
    KeyedProperties properties;
    std::vector<EdgeEnd> ends;  // in the order of Expand
  };
  struct Edge {
    EdgeRef edge;
    Value id;
    KeyedProperties properties;
  };
  const Vertex* Find(VertexRef vertex) const;
  const Edge* Find(uint64_t edge_id) const;
  StatusOr<KeyedProperties> Intern(LabelId label, const PropertyList& properties);

  std::vector<std::vector<Vertex>> vertices_;    // by partition, local - kFirstVertexLocal
  std::vector<std::map<uint64_t, Edge>> edges_;  // by partition
  std::vector<uint64_t> next_edge_local_;
  std::unordered_map<std::string, VertexRef> vertex_ids_;  // id bytes
  std::unordered_map<std::string, uint64_t> edge_ids_;     // id bytes, assigned ones too
  int64_t next_vertex_id_ = 0;
  Schema schema_;
};

}  // namespace koios::storage
