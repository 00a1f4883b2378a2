// What is done in steps of RocksDB. What dropping costs grows with what is dropped, not with what
// was dropped before it.
#include <gtest/gtest.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <vector>

#include "storage/check.h"
#include "storage/rocks/graph_store.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

constexpr size_t kVertices = 2500;  // with their edges, a large commit
constexpr size_t kEdgesOfEach = 4;

class DropWorkTest : public testing::Test {
 protected:
  void SetUp() override {
    store_ = GraphStore::Open(folder_ / "graph", TestOptions()).value();
    WriteBatch batch;
    for (size_t i = 0; i < kVertices; ++i) {
      batch.vertices.push_back({std::nullopt, "p", {{"n", Value::Long(static_cast<int64_t>(i))}}});
      for (size_t k = 1; k <= kEdgesOfEach; ++k) {
        const auto to = static_cast<uint32_t>((i + k * 7) % kVertices);
        batch.edges.push_back({std::nullopt, "e", Added(static_cast<uint32_t>(i)), Added(to), {}});
      }
    }
    CommitResult result = store_->Commit(batch).value();
    vertices_ = std::move(result.vertices);
    edges_ = std::move(result.edges);
  }
  // Entries that the calls of `work` stepped over because they were dropped.
  template <typename Work>
  static uint64_t Skipped(Work work) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    work();
    const uint64_t skipped = rocksdb::get_perf_context()->internal_delete_skipped_count;
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    return skipped;
  }
  void Drop(const std::vector<VertexRef>& vertices, const std::vector<EdgeRef>& edges) {
    WriteBatch drop;
    drop.read_version = store_->View()->version();
    drop.dropped_vertices = vertices;
    drop.dropped_edges = edges;
    EXPECT_TRUE(store_->Commit(drop).ok());
  }

  TempFolder folder_;
  std::unique_ptr<GraphStore> store_;
  std::vector<VertexRef> vertices_;
  std::vector<EdgeRef> edges_;
};

TEST_F(DropWorkTest, VerticesWhoseEdgesWereDropped) {
  Drop({}, edges_);
  const uint64_t skipped = Skipped([this] { Drop(vertices_, {}); });
  EXPECT_LE(skipped, 2 * edges_.size() + vertices_.size());  // each end once
  EXPECT_EQ(CountVertices(*store_->View()), 0u);
}

// One at a time, as a request drops a few.
TEST_F(DropWorkTest, AVertexAmongDroppedOnes) {
  Drop({}, edges_);
  const uint64_t skipped = Skipped([this] {
    for (size_t i = 0; i < 20; ++i) Drop({vertices_[i * 50]}, {});
  });
  EXPECT_LE(skipped, 20 * (2 * kEdgesOfEach + 2));
}

TEST_F(DropWorkTest, ReadingAmongDroppedOnes) {
  std::vector<VertexRef> dropped(vertices_.begin() + 100, vertices_.end());
  Drop(dropped, {});
  const auto view = store_->View();
  const uint64_t skipped = Skipped([&] {
    std::vector<LabelId> labels;
    PropertyRows properties;
    Expansion ends;
    for (size_t i = 0; i < 100; i += 20) {
      const std::span<const VertexRef> some(vertices_.data() + i, 20);
      ASSERT_TRUE(view->VertexLabels(some, &labels).ok());
      ASSERT_TRUE(view->VertexProperties(some, {}, &properties).ok());
      ExpandCursor cursor;
      ASSERT_TRUE(view->Expand(some, Direction::kBoth, {}, true, &cursor, 10'000, &ends).ok());
    }
    EXPECT_EQ(labels.size(), 100u);
    EXPECT_EQ(properties.rows.size(), 100u);
  });
  // What these vertices had, and what lies between two of them (keys that are walked are close).
  EXPECT_LE(skipped, 100 * 2 * kEdgesOfEach + 5 * 2 * 20 * 8);
}

TEST_F(DropWorkTest, EverythingAtOnce) {
  Drop(vertices_, {});
  EXPECT_TRUE(Check(*store_).value().ok());
  const auto view = store_->View();
  EXPECT_EQ(CountVertices(*view), 0u);
  EXPECT_TRUE(view->schema().edge_counts.empty());
  std::vector<EdgeRef> left;
  for (uint32_t p = 0; p < view->num_partitions(); ++p) {
    ExpandCursor cursor;
    while (!cursor.done) ASSERT_TRUE(view->ScanEdges(p, {}, &cursor, 1000, &left).ok());
  }
  EXPECT_TRUE(left.empty());
}

// What a call reads of records: it ends when it has sought enough, though nothing was found.
constexpr size_t kLonely = 1000;  // without edges
constexpr size_t kEndsAtOnce = 80;

class ExpandWorkTest : public testing::Test {
 protected:
  void SetUp() override {
    StoreOptions options = TestOptions();
    options.delta_bytes = 0;
    store_ = GraphStore::Open(folder_ / "graph", options).value();
    WriteBatch batch;
    for (size_t i = 0; i < kLonely; ++i) batch.vertices.push_back({std::nullopt, "p", {}});
    vertices_ = std::move(store_->Commit(batch).value().vertices);
    view_ = store_->View();
  }
  // Calls `read` until it returns true.
  template <typename Read>
  void ExpectShortCalls(const Read& read) {
    uint64_t all = 0;
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    for (bool done = false; !done;) {
      rocksdb::get_perf_context()->Reset();
      done = read();
      const uint64_t sought = rocksdb::get_perf_context()->seek_on_memtable_count;
      EXPECT_LE(sought, kEndsAtOnce / 2);
      all += sought;
    }
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    EXPECT_GE(all, 2 * kLonely);
  }

  TempFolder folder_;
  std::unique_ptr<GraphStore> store_;
  std::vector<VertexRef> vertices_;
  std::shared_ptr<const GraphView> view_;
};

TEST_F(ExpandWorkTest, OfVerticesWithoutEdges) {
  ExpandCursor cursor;
  Expansion ends;
  ExpectShortCalls([&] {
    EXPECT_TRUE(
        view_->Expand(vertices_, Direction::kBoth, {}, false, &cursor, kEndsAtOnce, &ends).ok());
    return cursor.done;
  });
  EXPECT_TRUE(ends.rows.empty());
}

TEST_F(ExpandWorkTest, OfDegreesThatAreZero) {
  DegreeCursor cursor;
  std::vector<int64_t> degrees;
  ExpectShortCalls([&] {
    EXPECT_TRUE(
        view_->CountEnds(vertices_, Direction::kBoth, {}, &cursor, kEndsAtOnce, &degrees).ok());
    return cursor.done;
  });
  EXPECT_EQ(degrees, std::vector<int64_t>(kLonely, 0));
}

}  // namespace
}  // namespace koios::storage
