// Random commits, with folds between them at random: what views read from snapshots and the delta
// is what the truth has at their version, also of views that are held while the graph goes on.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/random.h"
#include "storage/check.h"
#include "storage/rocks/store_state.h"
#include "storage/snapshot_build.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"
#include "storage/view/snapshot_view.h"
#include "storage/view/testing/same_views.h"

namespace koios::storage {
namespace {

const GraphView& TruthOf(const GraphView& view) {
  const auto* read = dynamic_cast<const SnapshotView*>(&view);
  CHECK(read != nullptr);
  return read->truth();
}

// Changes a graph at random; keeps all that ever was.
class Changes {
 public:
  Changes(GraphStore* store, uint64_t seed) : store_(*store), random_(seed) {}

  void Commit() {
    WriteBatch batch;
    batch.read_version = store_.View()->version();
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
    if (vertices_.size() > 15 && random_.Chance(0.25)) DropVertex(&batch);
    if (edges_.size() > 10 && random_.Chance(0.4)) DropEdge(&batch);
    const auto result = store_.Commit(batch);
    ASSERT_TRUE(result.ok()) << result.status();
    for (size_t i = 0; i < batch.vertices.size(); ++i) {
      vertices_.push_back(result->vertices[i]);
      known_.vertices.push_back(result->vertices[i]);
      known_.ids.push_back(result->vertex_ids[i]);
    }
    for (size_t i = 0; i < batch.edges.size(); ++i) {
      if (result->edge_ids[i].is_null()) continue;
      edges_.push_back(result->edges[i]);
      known_.edges.push_back(result->edges[i]);
    }
  }

  const testing::Known& known() const { return known_; }

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
  void DropVertex(WriteBatch* batch) {
    const size_t at = random_.Uniform(vertices_.size());
    const VertexRef dropped = vertices_[at];
    batch->dropped_vertices.push_back(dropped);
    Column id;
    ASSERT_TRUE(TruthOf(*store_.View()).VertexIds({&dropped, 1}, &id).ok());
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

  GraphStore& store_;
  Rng random_;
  std::vector<VertexRef> vertices_;  // that are there
  std::vector<EdgeRef> edges_;
  std::vector<Value> free_ids_;
  uint64_t next_id_ = 0;
  testing::Known known_;
};

class DeltaViewTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  void Open() {
    store_ = nullptr;
    store_ = GraphStore::Open(folder_ / "g", TestOptions(3)).value();
  }
  TempFolder folder_;
  std::unique_ptr<GraphStore> store_;
};

TEST_P(DeltaViewTest, HeldViewsAreWhatTheTruthWas) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  Open();
  Rng random(GetParam());
  Changes changes(store_.get(), GetParam() + 100);
  std::vector<std::shared_ptr<const GraphView>> held;
  for (int step = 0; step < 50 && !HasFailure(); ++step) {
    changes.Commit();
    if (random.Chance(0.2)) held.push_back(store_->View());
    if (random.Chance(0.1)) {
      SnapshotOptions options;
      options.all_partitions = random.Chance(0.3);
      ASSERT_TRUE(BuildSnapshots(store_.get(), options).ok());
    }
    if (step % 10 != 9) continue;
    held.push_back(store_->View());
    for (const auto& view : held) {
      testing::ExpectSame(*view, TruthOf(*view), changes.known());
    }
    if (held.size() > 4) held.clear();
  }
  held.clear();
  Open();
  testing::ExpectSame(*store_->View(), TruthOf(*store_->View()), changes.known());
  EXPECT_TRUE(Check(*store_)->ok());
}

// One thread commits and folds; others read, each the version that it got.
TEST_P(DeltaViewTest, ReadersBesideCommits) {
  Open();
  Changes changes(store_.get(), GetParam());
  for (int i = 0; i < 30; ++i) changes.Commit();
  const testing::Known known = changes.known();
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!done && !HasFailure()) {
        const auto view = store_->View();
        testing::ExpectSame(*view, TruthOf(*view), known);
      }
    });
  }
  for (int i = 0; i < 80 && !HasFailure(); ++i) {
    changes.Commit();
    SnapshotOptions options;
    options.all_partitions = false;
    if (i % 20 != 7) continue;
    EXPECT_TRUE(BuildSnapshots(store_.get(), options).ok());
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  testing::ExpectSame(*store_->View(), TruthOf(*store_->View()), changes.known());
}

// While snapshots are built commits go on: what they changed is in the delta on top of them.
TEST_P(DeltaViewTest, CommitsDuringAFold) {
  Open();
  Changes changes(store_.get(), GetParam());
  for (int i = 0; i < 30; ++i) changes.Commit();
  auto before = store_->View();
  const uint64_t folded = before->version();
  const auto commit = [&](const SnapshotProgress&) {
    changes.Commit();
    return OkStatus();
  };
  const auto report = BuildSnapshots(store_.get(), {}, commit);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->version, folded);
  EXPECT_GT(store_->View()->version(), folded);
  testing::ExpectSame(*store_->View(), TruthOf(*store_->View()), changes.known());
  testing::ExpectSame(*before, TruthOf(*before), changes.known());
  before = nullptr;
  Open();
  testing::ExpectSame(*store_->View(), TruthOf(*store_->View()), changes.known());
  EXPECT_EQ(StoreAccess::Of(*store_).CurrentReadable().base->version(), folded);
}

INSTANTIATE_TEST_SUITE_P(Seeds, DeltaViewTest, ::testing::Range<uint64_t>(1, 6));

}  // namespace
}  // namespace koios::storage
