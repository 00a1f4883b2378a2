// What a commit reads of elements that it changes: their records are written whole.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/value_compare.h"
#include "storage/rocks/graph_store.h"
#include "storage/rocks/store_state.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

class ChangedRecordsTest : public testing::Test {
 protected:
  ChangedRecordsTest() { Open(TestOptions()); }
  void Open(const StoreOptions& options) {
    store_ = nullptr;
    store_ = GraphStore::Open(folder_ / "graph", options).value();
  }
  StatusOr<CommitResult> Commit(const WriteBatch& batch) { return store_->Commit(batch); }

  TempFolder folder_;
  std::unique_ptr<GraphStore> store_;
};

// A record is written whole, whatever is changed of it: what else is in it counts.
TEST_F(ChangedRecordsTest, WhatIsStoredOfChangedElementsCounts) {
  StoreOptions options = TestOptions();
  options.max_commit_bytes = 30'000;
  Open(options);
  std::vector<VertexRef> vertices;
  for (int i = 0; i < 4; ++i) {
    const CommitResult added =
        Commit(AddVertexBatch(store_->View()->version(), std::nullopt,
                              {{"text", Value::String(std::string(9'000, 'x'))}}))
            .value();
    vertices.push_back(added.vertices[0]);
  }
  const auto set = [&](size_t count, const std::string& key, std::optional<Value> value) {
    WriteBatch batch;
    batch.read_version = store_->View()->version();
    for (size_t i = 0; i < count; ++i) {
      batch.vertex_properties.push_back({vertices[i], key, value});
    }
    return Commit(batch).status();
  };
  EXPECT_TRUE(set(3, "n", Value::Int(1)).ok());
  const Status refused = set(4, "n", Value::Int(1));
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(refused)->reason, "COMMIT_TOO_LARGE");
  // One alone may grow as far, and become less from everywhere.
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(set(1, "more" + std::to_string(i), Value::String(std::string(9'000, 'x'))).ok());
  }
  StoreAccess::Of(store_.get()).options.max_commit_bytes = 20'000;
  EXPECT_EQ(set(1, "n", Value::Int(2)).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(set(3, "more0", std::nullopt).code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(set(1, "more0", std::nullopt).ok());
  EXPECT_TRUE(set(1, "n", Value::Int(2)).ok());
  // What goes, or is replaced, does not stay.
  EXPECT_TRUE(set(4, "text", Value::Int(3)).ok());
  EXPECT_TRUE(set(4, "text", std::nullopt).ok());
}

// Of large values fewer are read at once.
TEST_F(ChangedRecordsTest, LargeValuesAreReadInParts) {
  std::vector<VertexRef> vertices;
  for (int i = 0; i < 12; ++i) {
    const CommitResult added =
        Commit(AddVertexBatch(store_->View()->version(), std::nullopt,
                              {{"text", Value::String(std::string(size_t{1} << 20, 'x'))}}))
            .value();
    vertices.push_back(added.vertices[0]);
  }
  WriteBatch batch;
  batch.read_version = store_->View()->version();
  for (const VertexRef vertex : vertices) {
    batch.vertex_properties.push_back({vertex, "n", Value::Int(7)});
  }
  ASSERT_TRUE(Commit(batch).ok());
  const auto view = store_->View();
  for (const VertexRef vertex : vertices) {
    EXPECT_TRUE(Equivalent(*PropertyOf(*view, vertex, "n"), Value::Int(7)));
    EXPECT_EQ(PropertyOf(*view, vertex, "text")->AsString().size(), size_t{1} << 20);
  }
}

}  // namespace
}  // namespace koios::storage
