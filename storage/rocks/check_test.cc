#include "storage/check.h"

#include <gtest/gtest.h>

#include "storage/rocks/store_state.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

class CheckTest : public testing::Test {
 protected:
  void SetUp() override { NewGraph(); }
  void NewGraph() {
    store_ = nullptr;
    CHECK(RemovePath(folder_ / "g").ok());
    store_ = GraphStore::Open(folder_ / "g", TestOptions()).value();
    WriteBatch batch = AddVertexBatch(0, Value::Long(1), {{"name", Value::String("x")}});
    batch.vertices.push_back({Value::String("two"), "software", {}});
    batch.edges.push_back({Value::Long(9), "made", Added(0), Added(1), {}});
    batch.edges.push_back({std::nullopt, "made", Added(0), Added(0), {}});
    base_ = store_->Commit(batch).value();
  }
  std::string Key(Family family) const {
    switch (family) {
      case Family::kMeta:
        return EncodeMetaKey({MetaKind::kVertexCount, 1, 0});
      case Family::kVertices:
        return VertexKey(base_.vertices[1]);
      case Family::kVertexLabels:
        return VertexLabelKey(base_.vertices[1], 2);
      case Family::kVertexIds:
        return VertexIdKey("\x02two", 4);
      case Family::kEdges:
        return EdgeKey(base_.edges[0].id);
      case Family::kEdgeEnds:
        return EdgeEndKey(InEnd(base_.edges[0]));
      case Family::kEdgeIds:
        return EdgeIdKey(std::string("\x01\x80\0\0\0\0\0\0\x09", 9), 4);
      case Family::kVertexIndex:
        return "";
    }
    return "";
  }
  // Past the commit path.
  void Change(Family family, const std::string& key, const std::string& value) {
    Database& database = *StoreAccess::Of(store_.get()).CurrentDatabase();
    CHECK(database.db()->Put({}, database.family(family), key, value).ok());
  }
  void Remove(Family family) {
    Database& database = *StoreAccess::Of(store_.get()).CurrentDatabase();
    std::string before;
    ASSERT_TRUE(database.db()->Get({}, database.family(family), Key(family), &before).ok());
    ASSERT_TRUE(database.db()->Delete({}, database.family(family), Key(family)).ok());
  }
  CheckReport Run() {
    // Check looks at the newest view: publish one.
    CHECK(store_->Commit(AddVertexBatch(store_->View()->version(), std::nullopt)).ok());
    return Check(*store_).value();
  }

  TempFolder folder_;
  std::unique_ptr<GraphStore> store_;
  CommitResult base_;
};

TEST_F(CheckTest, AWholeGraphHasNoProblems) {
  const CheckReport report = Run();
  EXPECT_TRUE(report.ok()) << report.problems[0];
  EXPECT_EQ(report.version, 2u);
  EXPECT_EQ(report.vertices, 3u);
  EXPECT_EQ(report.edges, 2u);
}

TEST_F(CheckTest, TheWatchStopsIt) {
  uint64_t calls = 0;
  const auto stopped = Check(*store_, [&calls](uint64_t entries) {
    EXPECT_EQ(entries, calls++ * kEntriesPerWatch);
    return Cancelled("enough");
  });
  EXPECT_EQ(stopped.status().code(), StatusCode::kCancelled);
  EXPECT_EQ(calls, 1u);
  EXPECT_TRUE(Check(*store_, [](uint64_t) { return OkStatus(); }).ok());
}

TEST_F(CheckTest, FindsEachKindOfEntryThatIsMissing) {
  for (const Family family : {Family::kEdgeIds, Family::kEdgeEnds, Family::kEdges,
                              Family::kVertexIds, Family::kVertexLabels, Family::kVertices}) {
    NewGraph();
    Remove(family);
    const CheckReport report = Run();
    ASSERT_FALSE(report.ok()) << FamilyName(family);
    EXPECT_EQ(report.problems.size(), report.problems_found);
  }
}

TEST_F(CheckTest, FindsEntriesTooMany) {
  const VertexRef ghost = VertexRef::Make(0, 77);
  Change(Family::kVertexLabels, VertexLabelKey(ghost, 1), "");
  EXPECT_EQ(Run().problems_found, 1u);
  Change(Family::kEdgeEnds, EdgeEndKey({ghost, Direction::kOut, 1, ghost, 5}), "");
  EXPECT_EQ(Run().problems_found, 2u);
  Change(Family::kVertexIds, VertexIdKey("\x02ghost", 4), VertexKey(ghost));
  EXPECT_EQ(Run().problems_found, 3u);
  Change(Family::kVertexLabels, VertexLabelKey(base_.vertices[1], 1), "");
  EXPECT_EQ(Run().problems_found, 4u);
}

TEST_F(CheckTest, FindsWrongCountsAndDamage) {
  Change(Family::kMeta, EncodeMetaKey({MetaKind::kEdgeCount, 3, 0}), EncodeMetaNumber(7));
  const CheckReport counts = Run();
  ASSERT_EQ(counts.problems_found, 1u);
  EXPECT_NE(counts.problems[0].find("made"), std::string::npos);
  Change(Family::kEdges, Key(Family::kEdges), "damaged");
  EXPECT_GT(Run().problems_found, 1u);
}

TEST_F(CheckTest, NamesABoundedNumberOfProblems) {
  for (uint64_t i = 0; i < 2 * kMaxProblems; ++i) {
    Change(Family::kVertexLabels, VertexLabelKey(VertexRef::Make(1, 500 + i), 1), "");
  }
  const CheckReport report = Run();
  EXPECT_EQ(report.problems_found, 2 * kMaxProblems);
  EXPECT_EQ(report.problems.size(), kMaxProblems);
}

}  // namespace
}  // namespace koios::storage
