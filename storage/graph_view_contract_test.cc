// The contract, on every implementation of GraphView.
#include "storage/graph_view_contract.h"

#include "storage/index/seek_contract.h"
#include "storage/index_build.h"
#include "storage/memory_graph.h"
#include "storage/rocks/graph_store.h"
#include "storage/snapshot_build.h"
#include "storage/temp_folder.h"
#include "storage/transaction.h"
#include "storage/view/snapshot_view.h"

namespace koios::storage {
namespace {

using Indexes = std::vector<std::pair<std::string, std::vector<std::string>>>;

std::shared_ptr<MemoryGraph> IndexedMemory(const Indexes& indexes) {
  auto graph = std::make_shared<MemoryGraph>(4);
  for (const auto& [label, keys] : indexes) graph->IndexVertices(label, keys);
  return graph;
}

// Adds the batch one element after the other. Given ids first, as a commit does it: an assigned one
// takes none of them.
template <typename Graph, typename AddVertex, typename AddEdge>
BuiltGraph BuildWith(const std::shared_ptr<Graph>& graph, const WriteBatch& batch,
                     const AddVertex& add_vertex, const AddEdge& add_edge) {
  BuiltGraph built;
  built.vertices.resize(batch.vertices.size());
  for (const bool given : {true, false}) {
    for (size_t i = 0; i < batch.vertices.size(); ++i) {
      if (batch.vertices[i].id.has_value() != given) continue;
      built.vertices[i] = add_vertex(batch.vertices[i]).value();
    }
  }
  for (const AddedEdge& edge : batch.edges) {
    built.edges.push_back(
        add_edge(built.vertices[*edge.out.added], built.vertices[*edge.in.added], edge).value());
  }
  Column vertex_ids, edge_ids;
  CHECK(graph->VertexIds(built.vertices, &vertex_ids).ok());
  CHECK(graph->EdgeIds(built.edges, &edge_ids).ok());
  for (size_t i = 0; i < vertex_ids.size(); ++i) built.vertex_ids.push_back(vertex_ids.Get(i));
  for (size_t i = 0; i < edge_ids.size(); ++i) built.edge_ids.push_back(edge_ids.Get(i));
  built.view = graph;
  return built;
}

struct MemoryBackend {
  Indexes indexes;
  BuiltGraph Build(const WriteBatch& batch) {
    auto graph = IndexedMemory(indexes);
    return BuildWith(
        graph, batch,
        [&](const AddedVertex& v) { return graph->AddVertex(v.id, v.label, v.properties); },
        [&](VertexRef out, VertexRef in, const AddedEdge& e) {
          return graph->AddEdge(out, in, e.label, e.properties, e.id);
        });
  }
};

template <size_t kCacheBytes>
struct StoreBackend {
  Indexes indexes;
  BuiltGraph Build(const WriteBatch& batch) {
    StoreOptions options;
    options.create = true;
    options.num_partitions = 4;
    options.adjacency_cache_bytes = kCacheBytes;
    store_ = GraphStore::Open(folder / "graph", options).value();
    // Some are kept by the commit, the others are built behind it.
    const size_t early = indexes.size() / 2;
    for (size_t i = 0; i < early; ++i) Index(indexes[i]);
    CommitResult result = store_->Commit(batch).value();
    for (size_t i = early; i < indexes.size(); ++i) Index(indexes[i]);
    return {store_->View(), result.vertices, result.edges, result.vertex_ids, result.edge_ids};
  }
  void Index(const Indexes::value_type& index) {
    CHECK(CreateIndex(store_.get(), {index.first, index.second}).ok());
  }
  std::unique_ptr<GraphStore>& store() { return store_; }
  TempFolder folder;
  std::unique_ptr<GraphStore> store_;
};

// All of it added by one transaction.
struct OwnBackend {
  Indexes indexes;
  BuiltGraph Build(const WriteBatch& batch) {
    auto transaction =
        std::make_shared<Transaction>(IndexedMemory(indexes), std::make_shared<Numbers>(4));
    return BuildWith(
        transaction, batch,
        [&](const AddedVertex& v) { return transaction->AddVertex(v.label, v.id, v.properties); },
        [&](VertexRef out, VertexRef in, const AddedEdge& e) {
          return transaction->AddEdge(out, in, e.label, e.id, e.properties);
        });
  }
};

// Read from snapshots.
struct SnapshotBackend {
  Indexes indexes;
  BuiltGraph Build(const WriteBatch& batch) {
    stored.indexes = indexes;
    BuiltGraph built = stored.Build(batch);
    CHECK(BuildSnapshots(store().get(), {}).ok());
    built.view = store()->View();
    CHECK(dynamic_cast<const SnapshotView*>(built.view.get()) != nullptr);
    return built;
  }
  std::unique_ptr<GraphStore>& store() { return stored.store(); }
  StoreBackend<0> stored;
};

// All of it stored, under a transaction that has changed something else.
template <typename Stored>
struct ChangedBackend {
  Indexes indexes;
  BuiltGraph Build(const WriteBatch& batch) {
    stored.indexes = indexes;
    BuiltGraph built = stored.Build(batch);
    std::shared_ptr<Transaction> transaction = stored.store()->Begin();
    const VertexRef other = transaction->AddVertex("other", std::nullopt, {}).value();
    CHECK(transaction->AddEdge(other, built.vertices[0], "other", std::nullopt, {}).ok());
    CHECK(transaction->SetProperty(built.vertices[0], "other", Value::Int(1)).ok());
    CHECK(transaction->SetProperty(built.vertices[0], "other", Value::Null()).ok());
    Transaction::DropCursor cursor;
    while (!cursor.done) CHECK(transaction->DropVertex(other, &cursor).ok());
    // An indexed property that goes and comes back: the transaction's own from then on.
    for (size_t i = 0; i < batch.vertices.size(); i += 3) {
      for (const auto& [key, value] : batch.vertices[i].properties) {
        if (key != "x") continue;
        CHECK(transaction->SetProperty(built.vertices[i], key, Value::Int(-99)).ok());
        CHECK(transaction->SetProperty(built.vertices[i], key, value).ok());
      }
    }
    built.view = transaction;
    return built;
  }
  Stored stored;
};

// A cache that keeps all, none, or only segments of a few edge ends.
using Backends =
    testing::Types<MemoryBackend, StoreBackend<(16 << 20)>, StoreBackend<0>, StoreBackend<16384>,
                   OwnBackend, SnapshotBackend, ChangedBackend<StoreBackend<(16 << 20)>>,
                   ChangedBackend<SnapshotBackend>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Views, GraphViewContract, Backends);
INSTANTIATE_TYPED_TEST_SUITE_P(Views, SeekContract, Backends);

}  // namespace
}  // namespace koios::storage
