// A call looks at a bounded number of elements, whatever the graph has: what it did not come to is
// for the next one. Counted in calls and in how far cursors go.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "storage/snapshot_build.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"
#include "storage/transaction/transaction.h"
#include "storage/view/snapshot_view.h"

namespace koios::storage {
namespace {

constexpr size_t kMany = 5 * kMostPassedOver / 2;

class WorkBoundTest : public ::testing::Test {
 protected:
  // A hub with many edges of one label to vertices of another, in one partition; one edge and one
  // vertex are of labels of their own, behind the others.
  void SetUp() override {
    StoreOptions options = TestOptions(1);
    options.delta_bytes = size_t{256} << 20;
    store_ = GraphStore::Open(folder_.path() + "/graph", options).value();
    WriteBatch batch;
    for (size_t i = 0; i < kMany; ++i) batch.vertices.push_back({std::nullopt, "many", {}});
    batch.vertices.push_back({std::nullopt, "rare", {}});
    for (uint32_t i = 0; i < kMany; ++i) {
      batch.edges.push_back({std::nullopt, "to", Added(0), Added(i), {}});
    }
    batch.edges.push_back({std::nullopt, "odd", Added(kMany), Added(0), {}});
    added_ = store_->Commit(batch).value();
  }
  std::shared_ptr<const GraphView> View() const { return store_->View(); }
  static const GraphView& TruthOf(const GraphView& view) {
    return dynamic_cast<const SnapshotView&>(view).truth();
  }
  static LabelId Label(const GraphView& view, const std::string& name) {
    return view.schema().labels.Find(name);
  }
  static int CallsOfVertexScan(const GraphView& view, const std::string& label, size_t expected) {
    const LabelId wanted = Label(view, label);
    std::vector<VertexRef> found;
    int calls = 0;
    for (ScanCursor cursor; !cursor.done && calls < 1000; ++calls) {
      EXPECT_TRUE(view.ScanVertices(0, {&wanted, 1}, &cursor, 1000, &found).ok());
    }
    EXPECT_EQ(found.size(), expected);
    return calls;
  }
  static int CallsOfEdgeScan(const GraphView& view, const std::string& label, size_t expected) {
    const LabelId wanted = Label(view, label);
    std::vector<EdgeRef> found;
    int calls = 0;
    for (ExpandCursor cursor; !cursor.done && calls < 1000; ++calls) {
      EXPECT_TRUE(view.ScanEdges(0, {&wanted, 1}, &cursor, 1000, &found).ok());
    }
    EXPECT_EQ(found.size(), expected);
    return calls;
  }
  void DropEdgesOfHub() {
    WriteBatch change;
    change.read_version = View()->version();
    change.dropped_edges.assign(added_.edges.begin(), added_.edges.end() - 2);
    ASSERT_TRUE(store_->Commit(change).ok());
  }

  static constexpr int kCalls = kMany / kMostPassedOver;

  TempFolder folder_;
  std::unique_ptr<GraphStore> store_;
  CommitResult added_;
};

// From the delta, and from the lists of a snapshot.
TEST_F(WorkBoundTest, ExpansionsToVerticesThatAreOfOtherLabels) {
  for (const bool folded : {false, true}) {
    if (folded) {
      ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
    }
    const std::shared_ptr<const GraphView> view = View();
    const LabelId rare = Label(*view, "rare");
    const VertexRef hub = added_.vertices[0];
    Expansion found;
    int calls = 0;
    for (ExpandCursor cursor; !cursor.done && calls < 1000; ++calls) {
      ASSERT_TRUE(
          view->ExpandTo({&hub, 1}, Direction::kOut, {}, {&rare, 1}, &cursor, 1000, &found).ok());
    }
    EXPECT_TRUE(found.rows.empty());
    EXPECT_GE(calls, kCalls);
  }
}

TEST_F(WorkBoundTest, ScansOfVerticesThatAreOfOtherLabels) {
  EXPECT_GE(CallsOfVertexScan(*View(), "rare", 1), kCalls);
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  CallsOfVertexScan(*View(), "rare", 1);  // a run of its own
  WriteBatch change;
  change.read_version = View()->version();
  change.dropped_vertices.assign(added_.vertices.begin() + 1, added_.vertices.end() - 2);
  ASSERT_TRUE(store_->Commit(change).ok());
  EXPECT_GE(CallsOfVertexScan(*View(), "many", 2), kCalls);
}

TEST_F(WorkBoundTest, ScansOfEdgesThatAreOfOtherLabels) {
  EXPECT_GE(CallsOfEdgeScan(*View(), "odd", 1), kCalls);
  EXPECT_GE(CallsOfEdgeScan(TruthOf(*View()), "odd", 1), kCalls);
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  EXPECT_GE(CallsOfEdgeScan(*View(), "odd", 1), kCalls);
}

TEST_F(WorkBoundTest, EndsOfAHubThatAreGone) {
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  DropEdgesOfHub();
  const auto view = View();
  const VertexRef hub = added_.vertices[0];
  Expansion found;
  int calls = 0;
  for (ExpandCursor cursor; !cursor.done && calls < 1000; ++calls) {
    ASSERT_TRUE(
        view->Expand({&hub, 1}, Direction::kOut, {}, calls % 2 == 0, &cursor, 10, &found).ok());
  }
  EXPECT_GE(calls, kCalls);
  EXPECT_EQ(found.neighbours, std::vector<VertexRef>{added_.vertices[kMany - 1]});
}

// What came and went since the last fold, and what is younger than the view, is work, too.
TEST_F(WorkBoundTest, WhatTheDeltaHasAndAViewDoesNotSee) {
  const auto early = store_->View();
  DropEdgesOfHub();
  WriteBatch change;
  change.read_version = View()->version();
  for (size_t i = 0; i < kMany; ++i) change.vertices.push_back({std::nullopt, "late", {}});
  const CommitResult late = store_->Commit(change).value();
  change = {};
  change.read_version = View()->version();
  for (uint32_t i = 0; i < kMany; ++i) {
    change.edges.push_back(
        {std::nullopt, "late", Existing(added_.vertices[0]), Existing(late.vertices[i]), {}});
  }
  ASSERT_TRUE(store_->Commit(change).ok());
  for (const auto& view : {early, View()}) {
    const bool is_early = view == early;
    const VertexRef hub = added_.vertices[0];
    Expansion found;
    int calls = 0;
    for (ExpandCursor cursor; !cursor.done && calls < 10 * kCalls; ++calls) {
      ASSERT_TRUE(
          view->Expand({&hub, 1}, Direction::kOut, {}, false, &cursor, 1 << 20, &found).ok());
    }
    EXPECT_GE(calls, kCalls);
    EXPECT_EQ(found.neighbours.size(), is_early ? kMany : kMany + 1);
    // Pairs are found among them, not behind them.
    const std::vector<VertexRef> hubs(1000, hub);
    const std::span<const VertexRef> others(added_.vertices.data() + kMany - 1000, 1000);
    std::vector<int64_t> counts;
    BetweenCursor between;
    ASSERT_TRUE(
        view->CountBetween({hubs, others}, Direction::kOut, {}, 1, &between, 2000, &counts).ok());
    EXPECT_TRUE(between.done);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), int64_t{0}), is_early ? 1000 : 1);
    if (!is_early) continue;
    std::vector<VertexRef> vertices;
    calls = 0;
    for (ScanCursor cursor; !cursor.done && calls < 10 * kCalls; ++calls) {
      ASSERT_TRUE(view->ScanVertices(0, {}, &cursor, 1 << 20, &vertices).ok());
    }
    EXPECT_GE(calls, kCalls);
    EXPECT_EQ(vertices.size(), kMany + 1);
  }
}

// A request with drops of its own looks at the edges of a pair that has any, and asks for few pairs
// at a time.
TEST_F(WorkBoundTest, PairsWhereARequestHasDropped) {
  WriteBatch ring;
  ring.read_version = View()->version();
  constexpr uint32_t kPairs = 2000;
  for (uint32_t i = 1; i <= kPairs; ++i) {
    ring.edges.push_back(
        {std::nullopt, "next", Existing(added_.vertices[i]), Existing(added_.vertices[i + 1]), {}});
  }
  const CommitResult done = store_->Commit(ring).value();
  const std::shared_ptr<Transaction> request = store_->Begin();
  ASSERT_TRUE(request->DropEdge(done.edges[0]).ok());
  const std::span<const VertexRef> all = added_.vertices;
  const LabelId next = Label(*request, "next");
  std::vector<int64_t> counts;
  int calls = 0;
  for (BetweenCursor cursor; !cursor.done && calls < 2000; ++calls) {
    ASSERT_TRUE(request
                    ->CountBetween({all.subspan(1, kPairs), all.subspan(2, kPairs)},
                                   Direction::kOut, {&next, 1}, 1, &cursor, 1000, &counts)
                    .ok());
  }
  EXPECT_LT(calls, 100);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), int64_t{0}), kPairs - 1);
}

TEST_F(WorkBoundTest, CountsAtAHubThatHasChanged) {
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  DropEdgesOfHub();
  const std::vector<VertexRef> vertices = {added_.vertices[1], added_.vertices[0],
                                           added_.vertices[kMany]};
  std::vector<int64_t> counts;
  int calls = 0;
  for (DegreeCursor cursor; !cursor.done && calls < 1000; ++calls) {
    ASSERT_TRUE(View()->CountEnds(vertices, Direction::kBoth, {}, &cursor, 1000, &counts).ok());
    ASSERT_EQ(cursor.row, counts.size());
  }
  EXPECT_GE(calls, static_cast<int>(kMany / 1000));
  // The edge that is left leads to the last; the odd one comes in.
  EXPECT_EQ(counts, (std::vector<int64_t>{0, 2, 1}));
}

// Parallel edges are counted at once in a snapshot, one by one in a delta.
TEST_F(WorkBoundTest, ManyEdgesBetweenTwo) {
  for (const bool folded : {false, true}) {
    WriteBatch batch;
    batch.read_version = View()->version();
    for (size_t i = 0; i < 10'000; ++i) {
      batch.edges.push_back({std::nullopt,
                             folded ? "again" : "same",
                             Existing(added_.vertices[3]),
                             Existing(added_.vertices[4]),
                             {}});
    }
    ASSERT_TRUE(store_->Commit(batch).ok());
  }
  for (const bool folded : {false, true}) {
    if (folded) {
      ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
    }
    const auto newest = View();
    for (const GraphView* view : {newest.get(), &TruthOf(*newest)}) {
      const bool at_once = folded && view == newest.get();
      std::vector<int64_t> counts;
      int calls = 0;
      for (BetweenCursor cursor; !cursor.done && calls < 1000; ++calls) {
        ASSERT_TRUE(view->CountBetween({{&added_.vertices[3], 1}, {&added_.vertices[4], 1}},
                                       Direction::kOut, {}, 1 << 30, &cursor, 1000, &counts)
                        .ok());
      }
      EXPECT_EQ(counts, std::vector<int64_t>{20'000});
      EXPECT_TRUE(at_once ? calls == 1 : calls >= 20) << calls;
    }
  }
}

// A pair whose list is long costs a search.
TEST_F(WorkBoundTest, APairAtAHubIsOneStep) {
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  const std::vector<VertexRef> hubs(100, added_.vertices[0]);
  const std::vector<VertexRef> others(added_.vertices.end() - 100, added_.vertices.end());
  const auto newest = View();
  for (const GraphView* view : {newest.get(), &TruthOf(*newest)}) {
    std::vector<int64_t> counts;
    BetweenCursor cursor;
    ASSERT_TRUE(
        view->CountBetween({hubs, others}, Direction::kOut, {}, 1, &cursor, 1000, &counts).ok());
    EXPECT_TRUE(cursor.done);
    EXPECT_EQ(std::count(counts.begin(), counts.end(), 1), 99);
  }
}

TEST_F(WorkBoundTest, WhatATransactionAdded) {
  const std::shared_ptr<Transaction> transaction = store_->Begin();
  std::vector<VertexRef> own;
  for (size_t i = 0; i < kMany; ++i) {
    own.push_back(transaction->AddVertex("own", std::nullopt, {}).value());
    ASSERT_TRUE(transaction->AddEdge(own[0], own[i], "mine", std::nullopt, {}).ok());
  }
  EXPECT_GE(CallsOfVertexScan(*transaction, "rare", 1), 2 * kCalls);
  EXPECT_GE(CallsOfEdgeScan(*transaction, "odd", 1), 2 * kCalls);
}

}  // namespace
}  // namespace koios::storage
