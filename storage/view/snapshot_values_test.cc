// Values that are counted in columns: how few rows come, and when vertices are looked at instead.
#include <gtest/gtest.h>

#include <map>

#include "core/value_codec.h"
#include "storage/snapshot_build.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"
#include "storage/view/snapshot_view.h"

namespace koios::storage {
namespace {

constexpr int kNumVertices = 5000;

struct Found {
  std::map<std::string, int64_t> counts;  // by the value's bytes
  size_t rows = 0;
};

class SnapshotValuesTest : public ::testing::Test {
 protected:
  // Every third vertex lacks `some`; `wide` is of a large range, `mixed` of two kinds.
  void SetUp() override {
    store_ = GraphStore::Open(folder_.path() + "/graph", TestOptions(1)).value();
    WriteBatch batch;
    for (int i = 0; i < kNumVertices; ++i) {
      PropertyList properties = {{"small", Value::Int(i % 7 - 3)},
                                 {"long", Value::Long((int64_t{1} << 40) + i % 5)},
                                 {"text", Value::String("t" + std::to_string(i % 9))},
                                 {"wide", Value::Int(i * 1000)},
                                 {"mixed", i % 2 == 0 ? Value::Int(1) : Value::Long(1)}};
      if (i % 3 != 0) properties.emplace_back("some", Value::Int(i % 2));
      batch.vertices.push_back({std::nullopt, i < 100 ? "few" : "many", std::move(properties)});
    }
    added_ = store_->Commit(batch).value();
  }

  static Found Scan(const GraphView& view, const std::string& name, const std::string& label = "") {
    std::vector<LabelId> labels;
    if (!label.empty()) labels.push_back(view.schema().labels.Find(label));
    CountedValues found;
    ValueCursor cursor;
    for (int calls = 0; !cursor.done && calls < 1000; ++calls) {
      EXPECT_TRUE(
          view.ScanValues(0, labels, view.schema().keys.Find(name), &cursor, 1000, &found).ok());
    }
    EXPECT_TRUE(cursor.done);
    Found all;
    all.rows = found.counts.size();
    for (size_t i = 0; i < found.counts.size(); ++i) {
      all.counts[EncodeValue(found.values.Get(i))] += found.counts[i];
    }
    return all;
  }
  // As the truth has it, in so many rows.
  void Expect(const std::string& name, size_t rows, const std::string& label = "") const {
    const auto view = store_->View();
    const Found found = Scan(*view, name, label);
    EXPECT_EQ(found.rows, rows) << name;
    EXPECT_EQ(found.counts,
              Scan(dynamic_cast<const SnapshotView&>(*view).truth(), name, label).counts)
        << name;
  }

  TempFolder folder_;
  std::unique_ptr<GraphStore> store_;
  CommitResult added_;
};

TEST_F(SnapshotValuesTest, FewValuesAreFewRows) {
  Expect("small", kNumVertices);  // there are no columns yet
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  Expect("small", 2 * 7);  // two labels
  Expect("small", 7, "few");
  Expect("long", 2 * 5);
  Expect("text", 2 * 9);
  Expect("some", 2 * 2);
  Expect("none", 0);
  Expect("small", 0, "none");
}

TEST_F(SnapshotValuesTest, ManyValuesAndSeveralKindsAreRowsOfVertices) {
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  Expect("wide", kNumVertices);
  Expect("mixed", kNumVertices);
}

TEST_F(SnapshotValuesTest, WhatWasCommittedSinceIsSeenByYoungerViewsOnly) {
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  const auto early = store_->View();
  const Found before = Scan(*early, "small");
  ValueCursor cursor;
  CountedValues found;
  const KeyId key = early->schema().keys.Find("small");
  ASSERT_TRUE(early->ScanValues(0, {}, key, &cursor, 1, &found).ok());
  WriteBatch change;
  change.read_version = early->version();
  change.dropped_vertices = {added_.vertices[0], added_.vertices[3000]};
  change.vertices.push_back({std::nullopt, "few", {{"small", Value::Int(77)}}});
  ASSERT_TRUE(store_->Commit(change).ok());
  Expect("small", kNumVertices - 1);
  EXPECT_EQ(Scan(*early, "small").counts, before.counts);
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  EXPECT_EQ(Scan(*early, "small").counts, before.counts);
  const Found after = Scan(*store_->View(), "small");
  EXPECT_EQ(after.counts.size(), before.counts.size() + 1);
  // A scan that counts goes on counting.
  for (int calls = 0; !cursor.done && calls < 1000; ++calls) {
    ASSERT_TRUE(early->ScanValues(0, {}, key, &cursor, 1, &found).ok());
  }
  EXPECT_EQ(found.counts.size(), 2 * 7);
}

}  // namespace
}  // namespace koios::storage
