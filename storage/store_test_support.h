// Short forms for tests of the store: building batches and asking simple questions of a view.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/status.h"
#include "storage/graph_view.h"
#include "storage/rocks/graph_store.h"
#include "storage/transaction/transaction.h"
#include "storage/write_batch.h"

namespace koios::storage {

inline StoreOptions TestOptions(uint32_t num_partitions = 4) {
  StoreOptions options;
  options.create = true;
  options.num_partitions = num_partitions;
  options.block_cache_bytes = 8 << 20;
  options.write_buffer_bytes = 4 << 20;
  options.delta_bytes = 16 << 20;
  return options;
}

inline VertexHandle Existing(VertexRef vertex) { return {std::nullopt, vertex}; }
inline VertexHandle Added(uint32_t index) { return {index, {}}; }

inline WriteBatch AddVertexBatch(uint64_t read_version, std::optional<Value> id,
                                 PropertyList properties = {}, std::string label = "person") {
  WriteBatch batch;
  batch.read_version = read_version;
  batch.vertices.push_back({std::move(id), std::move(label), std::move(properties)});
  return batch;
}

inline WriteBatch AddEdgeBatch(uint64_t read_version, VertexRef out, VertexRef in,
                               std::optional<Value> id = std::nullopt, PropertyList properties = {},
                               std::string label = "knows") {
  WriteBatch batch;
  batch.read_version = read_version;
  batch.edges.push_back(
      {std::move(id), std::move(label), Existing(out), Existing(in), std::move(properties)});
  return batch;
}

// With all its edges.
inline Status DropVertex(Transaction* transaction, VertexRef vertex) {
  Transaction::DropCursor cursor;
  while (!cursor.done) RETURN_IF_ERROR(transaction->DropVertex(vertex, &cursor));
  return OkStatus();
}

inline std::optional<VertexRef> FindVertex(const GraphView& view, const Value& id) {
  std::vector<uint32_t> rows;
  std::vector<VertexRef> found;
  CHECK(view.LookupVertices({&id, 1}, &rows, &found).ok());
  return found.empty() ? std::nullopt : std::optional(found[0]);
}

inline std::optional<EdgeRef> FindEdge(const GraphView& view, const Value& id) {
  std::vector<uint32_t> rows;
  std::vector<EdgeRef> found;
  CHECK(view.LookupEdges({&id, 1}, &rows, &found).ok());
  return found.empty() ? std::nullopt : std::optional(found[0]);
}

inline std::vector<VertexRef> Neighbours(const GraphView& view, VertexRef vertex,
                                         Direction direction) {
  ExpandCursor cursor;
  Expansion out;
  CHECK(view.Expand({&vertex, 1}, direction, {}, false, &cursor, 1'000'000, &out).ok());
  return out.neighbours;
}

inline std::optional<Value> PropertyOf(const GraphView& view, VertexRef vertex,
                                       const std::string& key) {
  const KeyId id = view.schema().keys.Find(key);
  PropertyRows out;
  CHECK(view.VertexProperties({&vertex, 1}, {&id, 1}, &out).ok());
  return out.rows.empty() ? std::nullopt : std::optional(out.values.Get(0));
}

// In the order of partitions and as they are given, `limit` at a time.
inline std::vector<VertexRef> SeekOf(const GraphView& view, const VertexSeek& seek,
                                     size_t limit = 1000) {
  std::vector<VertexRef> found;
  for (uint32_t p = 0; p < view.num_partitions(); ++p) {
    SeekCursor cursor;
    while (!cursor.done) {
      const size_t before = found.size();
      CHECK(view.SeekVertices(p, seek, &cursor, limit, &found).ok());
      CHECK(found.size() <= before + limit);
    }
  }
  return found;
}

inline uint64_t CountVertices(const GraphView& view) {
  std::vector<VertexRef> found;
  for (uint32_t p = 0; p < view.num_partitions(); ++p) {
    ScanCursor cursor;
    while (!cursor.done) CHECK(view.ScanVertices(p, {}, &cursor, 1000, &found).ok());
  }
  return found.size();
}

}  // namespace koios::storage
