// The contracts, on every implementation of GraphView.
#include "storage/graph_view_contract.h"
#include "storage/index/seek_contract.h"
#include "storage/index_build.h"
#include "storage/memory_graph.h"
#include "storage/rocks/graph_store.h"
#include "storage/snapshot_build.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"
#include "storage/transaction/transaction.h"
#include "storage/view/snapshot_view.h"
#include "storage/view/testing/batch_contract.h"

namespace koios::storage {
namespace {

using Indexes = ContractBackend::Indexes;

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

struct MemoryBackend : ContractBackend {
  BuiltGraph Build(const WriteBatch& batch) override {
    auto graph = IndexedMemory(indexes);
    return BuildWith(
        graph, batch,
        [&](const AddedVertex& v) { return graph->AddVertex(v.id, v.label, v.properties); },
        [&](VertexRef out, VertexRef in, const AddedEdge& e) {
          return graph->AddEdge(out, in, e.label, e.properties, e.id);
        });
  }
};

// All of it committed at once: the delta of a graph that was empty.
struct StoreBackend : ContractBackend {
  BuiltGraph Build(const WriteBatch& batch) override {
    store_ = GraphStore::Open(folder / "graph", TestOptions(4)).value();
    // Some are kept by the commit, the others are built behind it.
    const size_t early = indexes.size() / 2;
    for (size_t i = 0; i < early; ++i) Index(indexes[i]);
    CommitResult result = store_->Commit(batch).value();
    for (size_t i = early; i < indexes.size(); ++i) Index(indexes[i]);
    BuiltGraph built = {store_->View(), result.vertices, result.edges, result.vertex_ids,
                        result.edge_ids};
    CHECK(dynamic_cast<const SnapshotView*>(built.view.get()) != nullptr);
    return built;
  }
  void Index(const Indexes::value_type& index) {
    CHECK(CreateIndex(store_.get(), {index.first, index.second}).ok());
  }
  std::unique_ptr<GraphStore>& store() { return store_; }
  TempFolder folder;
  std::unique_ptr<GraphStore> store_;
};

// Read from RocksDB alone.
struct TruthBackend : ContractBackend {
  BuiltGraph Build(const WriteBatch& batch) override {
    stored.indexes = indexes;
    BuiltGraph built = stored.Build(batch);
    const auto* view = dynamic_cast<const SnapshotView*>(built.view.get());
    built.view = std::shared_ptr<const GraphView>(built.view, &view->truth());
    return built;
  }
  StoreBackend stored;
};

// All of it added by one transaction.
struct OwnBackend : ContractBackend {
  BuiltGraph Build(const WriteBatch& batch) override {
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
struct SnapshotBackend : ContractBackend {
  BuiltGraph Build(const WriteBatch& batch) override {
    stored.indexes = indexes;
    BuiltGraph built = stored.Build(batch);
    CHECK(BuildSnapshots(store().get(), {}).ok());
    built.view = store()->View();
    CHECK(dynamic_cast<const SnapshotView*>(built.view.get()) != nullptr);
    return built;
  }
  std::unique_ptr<GraphStore>& store() { return stored.store(); }
  StoreBackend stored;
};

enum class Mixture : uint8_t {
  kHalves,  // before the snapshot and after it
  kAgain,   // dropped after the snapshot, and added again with the same ids
  kOther,   // with other properties and further elements before the snapshot
  kOld,     // and all of it dropped while the view is held
};

// Read from snapshots and a delta on top of them.
struct MixedBackend : ContractBackend {
  explicit MixedBackend(Mixture mixture) : mixture_(mixture) {}
  BuiltGraph Build(const WriteBatch& batch) override {
    store_ = GraphStore::Open(folder_ / "graph", TestOptions(4)).value();
    for (const auto& [label, keys] : indexes) {
      CHECK(CreateIndex(store_.get(), {label, keys}).ok());
    }
    batch_ = batch;
    built_.vertices.resize(batch.vertices.size());
    built_.vertex_ids.resize(batch.vertices.size());
    built_.edges.resize(batch.edges.size());
    built_.edge_ids.resize(batch.edges.size());
    const size_t half = batch.vertices.size() / 2;
    switch (mixture_) {
      case Mixture::kHalves:
        Add(0, half, /*some_edges=*/true);
        Fold();
        Add(half, batch.vertices.size(), /*some_edges=*/false);
        break;
      case Mixture::kAgain:
        Add(0, batch.vertices.size(), /*some_edges=*/true);
        Fold();
        DropAgain(half);
        Add(half, half + 2, /*some_edges=*/false);
        break;
      case Mixture::kOther:
      case Mixture::kOld:
        AddOther();
        Fold();
        MakeGood();
        break;
    }
    built_.view = store_->View();
    CHECK(dynamic_cast<const SnapshotView*>(built_.view.get()) != nullptr);
    if (mixture_ == Mixture::kOld) DropAll();
    return built_;
  }
  std::unique_ptr<GraphStore>& store() { return store_; }

 private:
  WriteBatch Change() const {
    WriteBatch change;
    change.read_version = store_->View()->version();
    return change;
  }
  bool IsThere(size_t vertex) const { return built_.vertices[vertex].bits != 0; }
  void Fold() { CHECK(BuildSnapshots(store_.get(), {}).ok()); }

  // Vertices [begin, end), and the edges that are not there and whose ends now are; `some_edges`:
  // every other one of those.
  void Add(size_t begin, size_t end, bool some_edges) {
    WriteBatch change = Change();
    for (size_t i = begin; i < end; ++i) change.vertices.push_back(batch_.vertices[i]);
    CommitResult added = store_->Commit(change).value();
    for (size_t i = begin; i < end; ++i) {
      built_.vertices[i] = added.vertices[i - begin];
      built_.vertex_ids[i] = added.vertex_ids[i - begin];
    }
    change = Change();
    std::vector<size_t> numbers;
    for (size_t i = 0; i < batch_.edges.size(); ++i) {
      const AddedEdge& edge = batch_.edges[i];
      const bool skipped = some_edges && mixture_ == Mixture::kHalves && i % 2 == 1;
      if (built_.edges[i].id != 0 || skipped) continue;
      if (!IsThere(*edge.out.added) || !IsThere(*edge.in.added)) continue;
      numbers.push_back(i);
      change.edges.push_back(edge);
      change.edges.back().out = Existing(built_.vertices[*edge.out.added]);
      change.edges.back().in = Existing(built_.vertices[*edge.in.added]);
    }
    added = store_->Commit(change).value();
    for (size_t i = 0; i < numbers.size(); ++i) {
      built_.edges[numbers[i]] = added.edges[i];
      built_.edge_ids[numbers[i]] = added.edge_ids[i];
    }
  }

  // Two vertices with their edges, and every third edge.
  void DropAgain(size_t first) {
    WriteBatch change = Change();
    for (size_t i = first; i < first + 2; ++i) {
      change.dropped_vertices.push_back(built_.vertices[i]);
    }
    for (size_t i = 0; i < batch_.edges.size(); ++i) {
      const size_t out = *batch_.edges[i].out.added, in = *batch_.edges[i].in.added;
      const bool goes = out - first < 2 || in - first < 2;
      if (!goes && i % 3 == 0) change.dropped_edges.push_back(built_.edges[i]);
      if (goes || i % 3 == 0) built_.edges[i] = {};
    }
    CHECK(store_->Commit(change).ok());
    for (size_t i = first; i < first + 2; ++i) built_.vertices[i] = {};
  }

  void AddOther() {
    const WriteBatch whole = batch_;
    for (AddedVertex& vertex : batch_.vertices) vertex.properties.clear();
    for (AddedEdge& edge : batch_.edges) edge.properties.clear();
    Add(0, batch_.vertices.size(), /*some_edges=*/true);
    batch_ = whole;
    WriteBatch change = Change();
    change.vertices.push_back({Value::String("other"), "other", {}});
    for (size_t i = 0; i < batch_.vertices.size(); ++i) {
      change.vertex_properties.push_back({built_.vertices[i], "other", Value::Int(1)});
      change.edges.push_back({std::nullopt, "in", Existing(built_.vertices[i]), Added(0), {}});
      change.edges.push_back({std::nullopt, "knows", Added(0), Existing(built_.vertices[i]), {}});
    }
    other_ = store_->Commit(change)->vertices[0];
  }
  void MakeGood() {
    WriteBatch change = Change();
    change.dropped_vertices.push_back(other_);
    for (size_t i = 0; i < batch_.vertices.size(); ++i) {
      change.vertex_properties.push_back({built_.vertices[i], "other", std::nullopt});
      for (const auto& [key, value] : batch_.vertices[i].properties) {
        if (!value.is_null()) change.vertex_properties.push_back({built_.vertices[i], key, value});
      }
    }
    for (size_t i = 0; i < batch_.edges.size(); ++i) {
      for (const auto& [key, value] : batch_.edges[i].properties) {
        change.edge_properties.push_back({built_.edges[i], key, value});
      }
    }
    CHECK(store_->Commit(change).ok());
  }
  void DropAll() {
    WriteBatch change = Change();
    for (size_t i = 0; i < 4; ++i) change.dropped_edges.push_back(built_.edges[i]);
    change.vertex_properties.push_back({built_.vertices[0], "name", Value::String("late")});
    CHECK(store_->Commit(change).ok());
    change = Change();
    change.dropped_vertices = built_.vertices;
    CHECK(store_->Commit(change).ok());
  }

  const Mixture mixture_;
  TempFolder folder_;
  std::unique_ptr<GraphStore> store_;
  WriteBatch batch_;
  BuiltGraph built_;
  VertexRef other_;
};

template <Mixture kMixture>
struct MixedOf final : MixedBackend {
  MixedOf() : MixedBackend(kMixture) {}
};

// All of it stored, under a transaction that has changed something else.
template <typename Stored>
struct ChangedBackend : ContractBackend {
  BuiltGraph Build(const WriteBatch& batch) override {
    stored.indexes = indexes;
    BuiltGraph built = stored.Build(batch);
    std::shared_ptr<Transaction> transaction = stored.store()->Begin();
    const VertexRef other = transaction->AddVertex("other", std::nullopt, {}).value();
    CHECK(transaction->AddEdge(other, built.vertices[0], "other", std::nullopt, {}).ok());
    CHECK(transaction->SetProperty(built.vertices[0], "other", Value::Int(1)).ok());
    CHECK(transaction->SetProperty(built.vertices[0], "other", Value::Null()).ok());
    CHECK(DropVertex(transaction.get(), other).ok());
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

const auto kBackends = testing::Values(
    &MakeBackend<MemoryBackend>, &MakeBackend<TruthBackend>, &MakeBackend<StoreBackend>,
    &MakeBackend<OwnBackend>, &MakeBackend<SnapshotBackend>,
    &MakeBackend<MixedOf<Mixture::kHalves>>, &MakeBackend<MixedOf<Mixture::kAgain>>,
    &MakeBackend<MixedOf<Mixture::kOther>>, &MakeBackend<MixedOf<Mixture::kOld>>,
    &MakeBackend<ChangedBackend<StoreBackend>>, &MakeBackend<ChangedBackend<SnapshotBackend>>,
    &MakeBackend<ChangedBackend<MixedOf<Mixture::kHalves>>>,
    &MakeBackend<ChangedBackend<MixedOf<Mixture::kAgain>>>);
INSTANTIATE_TEST_SUITE_P(Views, GraphViewContract, kBackends);
INSTANTIATE_TEST_SUITE_P(Views, LookupContract, kBackends);
INSTANTIATE_TEST_SUITE_P(Views, BatchContract, kBackends);
INSTANTIATE_TEST_SUITE_P(Views, SeekContract,
                         testing::Values(&MakeBackend<MemoryBackend>, &MakeBackend<TruthBackend>,
                                         &MakeBackend<StoreBackend>, &MakeBackend<OwnBackend>,
                                         &MakeBackend<SnapshotBackend>,
                                         &MakeBackend<MixedOf<Mixture::kHalves>>,
                                         &MakeBackend<ChangedBackend<StoreBackend>>,
                                         &MakeBackend<ChangedBackend<MixedOf<Mixture::kHalves>>>));

}  // namespace
}  // namespace koios::storage
