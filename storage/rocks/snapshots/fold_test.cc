// The log of commits behind snapshots, folds in the background, and what a crash leaves of one.
#include "storage/rocks/snapshots/fold.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "storage/bulk_writer.h"
#include "storage/check.h"
#include "storage/contract_graph.h"
#include "storage/rocks/snapshots/background_fold.h"
#include "storage/rocks/snapshots/commit_log.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"
#include "storage/view/snapshot_view.h"
#include "storage/view/testing/same_views.h"

namespace koios::storage {
namespace {

namespace fs = std::filesystem;

bool ReadsSnapshots(const GraphView& view) {
  return dynamic_cast<const SnapshotView*>(&view) != nullptr;
}

// Polls; a fold takes as long as the machine is busy.
template <typename Condition>
bool Eventually(const Condition& condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class FoldTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_ = TestOptions(2);
    Open();
    ASSERT_TRUE(store_->Commit(ContractBatch()).ok());
    LearnAll();
  }
  void Open() {
    store_ = nullptr;
    store_ = GraphStore::Open(path_, options_).value();
  }
  void OpenInBackground() {
    options_.folds_in_background = true;
    Open();
  }
  StoreState& state() { return StoreAccess::Of(store_.get()); }
  uint64_t version() { return store_->View()->version(); }
  uint64_t base_version() { return state().CurrentReadable().base->version(); }
  std::string snapshots() const { return path_ + "/snapshots"; }

  void LearnAll() {
    const auto view = store_->View();
    known_.vertices = testing::AllVertices(*view, {}, 1000);
    known_.edges =
        testing::WholeExpansion(*view, known_.vertices, Direction::kOut, {}, true, 1 << 20).edges;
    Column ids;
    ASSERT_TRUE(view->VertexIds(known_.vertices, &ids).ok());
    known_.ids.clear();
    for (size_t i = 0; i < ids.size(); ++i) known_.ids.push_back(ids.Get(i));
  }
  void Commit(int64_t id) {
    WriteBatch batch = AddVertexBatch(version(), Value::Long(id), {{"name", Value::Long(id)}});
    batch.edges.push_back({std::nullopt, "knows", Added(0), Existing(known_.vertices[0]), {}});
    batch.vertex_properties.push_back({known_.vertices[1], "age", Value::Long(id)});
    ASSERT_TRUE(store_->Commit(batch).ok());
    known_.ids.push_back(Value::Long(id));
  }
  void Load() {
    const auto writer = BulkWriter::Append(store_.get()).value();
    ASSERT_TRUE(writer->Finish().ok());
  }
  // A commit whose delta takes about so many bytes.
  WriteBatch Large(size_t bytes) {
    return AddVertexBatch(version(), std::nullopt,
                          {{"text", Value::String(std::string(bytes, 'x'))}});
  }
  static void ExpectTrue(GraphStore* store, const testing::Known& known) {
    const auto view = store->View();
    const auto truth = StoreAccess::Of(store).NewestView();
    testing::ExpectSame(*view, *truth, known);
  }
  void ExpectTrue() { ExpectTrue(store_.get(), known_); }

  TempFolder folder_;
  const std::string path_ = folder_ / "g";
  StoreOptions options_;
  std::unique_ptr<GraphStore> store_;
  testing::Known known_;
};

TEST_F(FoldTest, OpeningReplaysTheLog) {
  Open();
  ASSERT_TRUE(ReadsSnapshots(*store_->View()));  // of nothing, with all in the delta
  ExpectTrue();
  Commit(1000);
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  EXPECT_EQ(state().CurrentReadable().delta->record_bytes(), 0);
  const uint64_t folded = version();
  for (int64_t id = 1001; id < 1010; ++id) Commit(id);
  const uint64_t bytes = state().CurrentReadable().delta->record_bytes();
  for (const bool read_only : {false, true}) {
    options_.read_only = read_only;
    Open();
    ASSERT_TRUE(ReadsSnapshots(*store_->View()));
    EXPECT_EQ(base_version(), folded);
    EXPECT_EQ(version(), folded + 9);
    EXPECT_EQ(state().CurrentReadable().delta->record_bytes(), bytes);
    ExpectTrue();
  }
  EXPECT_TRUE(Check(*store_)->ok());
}

// The snapshots of partitions that nothing has touched stay.
TEST_F(FoldTest, OnlyWhatWasTouchedIsBuilt) {
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  const VertexRef vertex = known_.vertices[0];
  WriteBatch batch;
  batch.read_version = version();
  batch.vertex_properties.push_back({vertex, "name", Value::Long(1)});
  ASSERT_TRUE(store_->Commit(batch).ok());
  SnapshotOptions options;
  options.all_partitions = false;
  EXPECT_EQ(BuildSnapshots(store_.get(), options)->files, 1);
  for (const auto& [partition, named] : state().Snapshots()) {
    EXPECT_EQ(named.version, partition == vertex.partition() ? 2 : 1);
  }
  for (int i = 0; i < 2; ++i, Open()) {
    EXPECT_EQ(base_version(), 2);
    ExpectTrue();
  }
  EXPECT_TRUE(Check(*store_)->ok());
}

TEST_F(FoldTest, ALogThatIsNotWholeIsNotRead) {
  Commit(1000);
  Commit(1001);
  ASSERT_TRUE(ReadsSnapshots(*store_->View()));
  {
    const auto database = state().CurrentDatabase();
    const std::string key = LogKey(version() - 1);
    ASSERT_TRUE(database->db()->Delete({}, database->family(Family::kMeta), key).ok());
  }
  Open();
  EXPECT_FALSE(ReadsSnapshots(*store_->View()));
  ExpectTrue();
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  for (int i = 0; i < 2; ++i, Open()) {
    ASSERT_TRUE(ReadsSnapshots(*store_->View()));
    ExpectTrue();
  }
}

// A load is in no log: the truth is read until there are snapshots.
TEST_F(FoldTest, ALoadMakesSnapshotsAndLogVoid) {
  for (const bool named : {false, true}) {
    ASSERT_TRUE(!named || BuildSnapshots(store_.get(), {}).ok());
    Load();
    for (int i = 0; i < 2; ++i, Open()) {
      EXPECT_FALSE(ReadsSnapshots(*store_->View()));
      EXPECT_EQ(state().Snapshots().size(), 0);
      ExpectTrue();
      Commit(1000 + 10 * i + (named ? 1 : 0));
    }
  }
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  ASSERT_TRUE(ReadsSnapshots(*store_->View()));
  Commit(2000);
  Open();
  ASSERT_TRUE(ReadsSnapshots(*store_->View()));
  ExpectTrue();
}

// One is in the truth only, and no log is kept before it.
TEST_F(FoldTest, ACommitThatNoDeltaHolds) {
  options_.delta_bytes = 1 << 20;
  Open();
  ASSERT_TRUE(ReadsSnapshots(*store_->View()));
  ASSERT_TRUE(store_->Commit(Large(1 << 20)).ok());
  for (int i = 0; i < 2; ++i, Open()) {
    EXPECT_FALSE(ReadsSnapshots(*store_->View()));
    Commit(1000 + i);
    ExpectTrue();
  }
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  ASSERT_TRUE(ReadsSnapshots(*store_->View()));
  ExpectTrue();
}

TEST_F(FoldTest, WithoutFoldsAFullDeltaIsGivenUp) {
  options_.delta_bytes = 1 << 20;
  Open();
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(store_->Commit(Large(60'000)).ok());
  EXPECT_LE(options_.delta_bytes, size_t{30} * 60'000);
  EXPECT_LE(store_->DeltaBytes(), options_.delta_bytes);
  EXPECT_FALSE(ReadsSnapshots(*store_->View()));
  ExpectTrue();
}

// More is committed than the delta may take: it is folded again and again, and stays within its
// bound, but for what one commit adds.
TEST_F(FoldTest, TheBackgroundFoldsWhatIsFull) {
  options_.delta_bytes = 1 << 20;
  OpenInBackground();
  const DeltaBudget& budget = state().deltas();
  size_t most = 0;
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(store_->Commit(Large(60'000)).ok());
    most = std::max(most, budget.used_bytes());
    if (i % 10 == 0) Commit(-1000 - i);
  }
  EXPECT_LE(most, 2 * budget.limit_bytes());
  ASSERT_TRUE(ReadsSnapshots(*store_->View()));
  EXPECT_GT(base_version(), 0);
  ExpectTrue();
  Open();
  ASSERT_TRUE(ReadsSnapshots(*store_->View()));
  ExpectTrue();
}

TEST_F(FoldTest, WhereFoldsFailAFullDeltaIsGivenUp) {
  options_.delta_bytes = 1 << 20;
  OpenInBackground();
  std::ofstream(snapshots()) << "in the way";
  size_t most = 0;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(store_->Commit(Large(60'000)).ok());
    most = std::max(most, state().deltas().used_bytes());
  }
  EXPECT_LE(most, 2 * options_.delta_bytes);
  EXPECT_FALSE(ReadsSnapshots(*store_->View()));
  ExpectTrue();
  fs::remove(snapshots());
  Open();  // between two tries there may be minutes
  ASSERT_TRUE(Eventually([&] { return ReadsSnapshots(*store_->View()); }));
  ExpectTrue();
}

// As a request that came during the fold which made it needless.
TEST_F(FoldTest, WhatIsAskedForWithoutNeedIsNotDone) {
  options_.delta_bytes = 1 << 20;
  OpenInBackground();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(store_->Commit(Large(60'000)).ok());
  ASSERT_TRUE(Eventually([&] {
    return base_version() != 0 && !IsFoldDue(state().CurrentReadable(), state().deltas());
  }));
  Commit(1000);
  const NamedSnapshots named = state().Snapshots();
  state().folds->RequestFold();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(state().Snapshots(), named);
}

// A view that is held keeps its delta, which takes room: a fold can't give it back, and who commits
// does not wait for it. A request holds its own view until its commit is answered.
TEST_F(FoldTest, WhoCommitsDoesNotWaitForViews) {
  options_.delta_bytes = 1 << 20;
  OpenInBackground();
  const auto held = store_->View();
  for (int i = 0; i < 60; ++i) {
    const auto transaction = store_->Begin();
    const Value text = Value::String(std::string(60'000, 'x'));
    ASSERT_TRUE(transaction->AddVertex("person", std::nullopt, {{"text", text}}).ok());
    int asked = 0;
    const auto late = [&asked] { return ++asked > 4000 ? DeadlineExceeded("late") : OkStatus(); };
    const auto done = store_->Commit(transaction->TakeBatch(), late);
    ASSERT_TRUE(done.ok()) << i << ": " << done.status();
  }
  ExpectTrue();
}

TEST_F(FoldTest, ACheckBesideAFoldFindsNothing) {
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  bool folded = false;
  const auto report = Check(*store_, [&](uint64_t) {
    if (std::exchange(folded, true)) return OkStatus();
    Commit(1000);
    return BuildSnapshots(store_.get(), {}).status();
  });
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->ok()) << report->problems[0];
}

TEST_F(FoldTest, WhereThereAreNoSnapshotsTheyAreMade) {
  Load();
  EXPECT_FALSE(ReadsSnapshots(*store_->View()));
  OpenInBackground();
  ASSERT_TRUE(Eventually([&] { return ReadsSnapshots(*store_->View()); }));
  ExpectTrue();
  Load();
  ASSERT_TRUE(Eventually([&] { return ReadsSnapshots(*store_->View()); }));
  ExpectTrue();
}

// The records are the truth: a graph is open where nothing can be done with its snapshots.
TEST_F(FoldTest, OpensWhereNoSnapshotsCanBe) {
  Load();
  store_ = nullptr;
  fs::remove_all(snapshots());
  std::ofstream(snapshots()) << "a file";
  OpenInBackground();
  ExpectTrue();
  EXPECT_FALSE(ReadsSnapshots(*store_->View()));
  EXPECT_FALSE(BuildSnapshots(store_.get(), {}).ok());
  Commit(1000);
  ExpectTrue();
}

// A view that meets damage says so; the next one reads the truth, until there are new snapshots.
TEST_F(FoldTest, DamageIsMadeGoodInTheBackground) {
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  store_ = nullptr;
  for (const auto& entry : fs::directory_iterator(snapshots())) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    for (uint64_t at = 4100; at < entry.file_size() - 4096; at += 512) file.seekp(at) << "!!!!";
  }
  OpenInBackground();
  const auto right = [&] {
    // What is damaged may have been found at open.
    const auto view = store_->View();
    Column ids;
    const Status status = view->VertexIds(known_.vertices, &ids);
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kDataLoss) << status;
    return status.ok() && ReadsSnapshots(*view);
  };
  ASSERT_TRUE(Eventually(right));
  ExpectTrue();
  EXPECT_TRUE(Check(*store_)->ok());
}

}  // namespace
}  // namespace koios::storage
