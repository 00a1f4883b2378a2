// What a call reads of records: it ends when it has sought enough, though nothing was found.
#include <gtest/gtest.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <vector>

#include "storage/rocks/graph_store.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

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
