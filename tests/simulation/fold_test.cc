// Queries in flight over a store while its graph goes on: between the turns of a query commits
// come, and folds publish new snapshots and remove the files of the old ones. The query answers
// what the graph was at its version. KOIOS_SIM_SEEDS sets how many: one of 50.
#include <cstdlib>
#include <memory>
#include <vector>

#include "core/testing/rounds.h"
#include "gtest/gtest.h"
#include "storage/snapshot_build.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"
#include "tests/simulation/check.h"

namespace koios::simulation {
namespace {

constexpr uint64_t kDefaultCases = TestRounds(2000, 600);
constexpr uint64_t kSeedsPerStore = 50;
constexpr int kMostFolds = 3;  // during one query

// The graph of a case in a store, which changes at random.
class ChangingStore {
 public:
  explicit ChangingStore(uint64_t seed, const GraphData& data) : random_(seed) {
    store_ =
        storage::GraphStore::Open(folder_ / "g", storage::TestOptions(data.partitions)).value();
    // A part of it is in snapshots, the rest in commits on top of them.
    const size_t folded = random_.Uniform(data.vertices.size() + 1);
    AddVertices(data, 0, folded);
    Fold();
    AddVertices(data, folded, data.vertices.size());
    storage::WriteBatch edges;
    edges.read_version = version();
    for (const GraphData::Edge& edge : data.edges) {
      edges.edges.push_back({std::nullopt,
                             "e",
                             storage::Existing(vertices_[edge.from]),
                             storage::Existing(vertices_[edge.to]),
                             {}});
    }
    Commit(edges);
    folds_ = 0;
  }

  std::shared_ptr<const storage::GraphView> View() const { return store_->View(); }
  int folds() const { return folds_; }

  // Now and then something happens.
  void Turn() {
    if (random_.Chance(0.3)) Change();
    if (folds_ < kMostFolds && random_.Chance(0.1)) Fold();
  }

 private:
  uint64_t version() const { return store_->View()->version(); }
  storage::CommitResult Commit(const storage::WriteBatch& batch) {
    auto result = store_->Commit(batch);
    EXPECT_TRUE(result.ok()) << result.status();
    return *std::move(result);
  }
  void AddVertices(const GraphData& data, size_t begin, size_t end) {
    storage::WriteBatch batch;
    batch.read_version = version();
    for (size_t i = begin; i < end; ++i) {
      storage::PropertyList properties;
      if (data.vertices[i]) properties.emplace_back("n", Value::Long(*data.vertices[i]));
      batch.vertices.push_back({Value::Long(static_cast<int64_t>(i)), "v", properties});
    }
    for (const VertexRef vertex : Commit(batch).vertices) vertices_.push_back(vertex);
  }
  void Fold() {
    storage::SnapshotOptions options;
    options.all_partitions = random_.Chance(0.5);
    const auto built = storage::BuildSnapshots(store_.get(), options);
    EXPECT_TRUE(built.ok()) << built.status();
    ++folds_;
  }
  void Change() {
    storage::WriteBatch batch = storage::AddVertexBatch(
        version(), std::nullopt, {{"n", Value::Long(static_cast<int64_t>(random_.Uniform(12)))}},
        "v");
    if (!vertices_.empty()) {
      const size_t at = random_.Uniform(vertices_.size());
      const VertexRef old = vertices_[at];
      batch.edges.push_back(
          {std::nullopt, "e", storage::Added(0), storage::Existing(vertices_[0]), {}});
      if (random_.Chance(0.5)) {
        batch.dropped_vertices.push_back(old);
        vertices_.erase(vertices_.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        batch.vertex_properties.push_back({old, "n", Value::Long(77)});
      }
    }
    vertices_.push_back(Commit(batch).vertices[0]);
  }

  storage::TempFolder folder_;
  std::unique_ptr<storage::GraphStore> store_;
  Rng random_;
  std::vector<VertexRef> vertices_;  // that are there
  int folds_ = 0;
};

TEST(FoldTest, QueriesAnswerAsTheirVersionWas) {
  const char* text = std::getenv("KOIOS_SIM_SEEDS");
  const uint64_t seeds = text == nullptr ? kDefaultCases : std::strtoull(text, nullptr, 10);
  uint64_t folded = 0, queries = 0;
  for (uint64_t seed = kSeedsPerStore; seed <= seeds && !HasFailure(); seed += kSeedsPerStore) {
    Case drawn = MakeCase(seed);
    ChangingStore store(seed, drawn.graph);
    const auto view = store.View();
    drawn.options.beside = [&] { store.Turn(); };
    const std::string problem = Check(drawn, /*verbose=*/false, view);
    EXPECT_EQ(problem, "") << "seed " << seed;
    // And once more, with all that happened since.
    drawn.options.beside = nullptr;
    EXPECT_EQ(Check(drawn, /*verbose=*/false, view), "") << "seed " << seed << ", afterwards";
    ++queries;
    folded += store.folds() > 0 ? 1 : 0;
  }
  EXPECT_GE(folded, queries / 3) << "of " << queries;
}

}  // namespace
}  // namespace koios::simulation
