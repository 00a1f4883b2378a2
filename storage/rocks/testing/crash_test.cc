// A crash at any write, of the process or of the machine: commits, folds, indexes and the opening
// itself leave a graph with all that was acknowledged and nothing by half.
#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

#include "storage/index_build.h"
#include "storage/rocks/testing/crash_loop.h"

namespace koios::storage::testing {
namespace {

// A graph with snapshots, and commits on top of them.
class CrashTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = GraphStore::Open(path_, TestOptions(CrashLoop::kPartitions)).value();
    for (int i = 0; i < 12; ++i) ASSERT_TRUE(changes_.Commit(store.get()).ok());
    ASSERT_TRUE(BuildSnapshots(store.get(), {}).ok());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(changes_.Commit(store.get()).ok());
  }

  // What goes on without the disk is right as well: views read on.
  static void ExpectStillRight(const CrashRun& run, const Texts& texts) {
    if (run.store == nullptr || !run.disk->crashed()) return;
    const auto view = run.store->View();
    ASSERT_TRUE(texts.contains(view->version())) << view->version();
    EXPECT_EQ(TextOf(*view), texts.at(view->version()));
  }

  static void CrashAll(CrashLoop* loop, const CrashLoop::Work& work, bool reads_snapshots = true) {
    loop->Run(
        [&](CrashRun* run) {
          Status worked = work(run);
          ExpectStillRight(*run, loop->texts());
          return worked;
        },
        [&](const CrashRun& run, const std::string& image) {
          ExpectWhole(run, image, loop->texts(), reads_snapshots);
        });
  }

  static Status CommitAndFold(CrashRun* run);
  static Status MakeIndexes(CrashRun* run);

  TempFolder folder_;
  const std::string path_ = folder_ / "g";
  RandomChanges changes_{7};
};

TEST_F(CrashTest, InCommits) {
  CrashLoop loop(path_, changes_);
  CrashAll(&loop, [](CrashRun* run) -> Status {
    RETURN_IF_ERROR(run->Open());
    for (int i = 0; i < 3; ++i) RETURN_IF_ERROR(run->Commit());
    const auto transaction = run->store->Begin();
    ASSIGN_OR_RETURN(const VertexRef one, transaction->AddVertex("one", std::nullopt, {}));
    ASSIGN_OR_RETURN(const VertexRef other,
                     transaction->AddVertex("other", Value::Long(77), {{"k1", Value::Int(1)}}));
    RETURN_IF_ERROR(transaction->AddEdge(one, other, "to", std::nullopt, {}).status());
    RETURN_IF_ERROR(transaction->SetProperty(one, "k2", Value::String("x")));
    ASSIGN_OR_RETURN(const CommitResult committed, run->store->Commit(transaction->TakeBatch()));
    run->Note(committed.version);
    // Tables are written, logs end and begin.
    RETURN_IF_ERROR(run->store->Compact());
    RETURN_IF_ERROR(run->Commit());
    return run->Commit();
  });
}

// Threads of RocksDB write while commits do, in another order each time.
TEST_F(CrashTest, InCommitsBesideCompactions) {
  CrashLoop loop(path_, changes_);
  CrashAll(&loop, [](CrashRun* run) -> Status {
    RETURN_IF_ERROR(run->Open());
    std::thread compactions([&] {
      for (int i = 0; i < 3; ++i) run->store->Compact().IgnoreError();
    });
    Status status;
    for (int i = 0; i < 12 && status.ok(); ++i) status = run->Commit();
    compactions.join();
    return status;
  });
}

// Commits come between the writes of a fold, too.
Status CrashTest::CommitAndFold(CrashRun* run) {
  RETURN_IF_ERROR(run->Open());
  RETURN_IF_ERROR(run->Commit());
  for (const bool all : {true, false}) {
    int calls = 0;
    run->disk->SetBeside([&] {
      if (++calls % 4 == 1) run->Commit().IgnoreError();
    });
    SnapshotOptions options;
    options.all_partitions = all;
    const auto built = BuildSnapshots(run->store.get(), options);
    run->disk->SetBeside(nullptr);
    RETURN_IF_ERROR(built.status());
    RETURN_IF_ERROR(run->Commit());
  }
  return OkStatus();
}

TEST_F(CrashTest, InFolds) {
  CrashLoop loop(path_, changes_);
  CrashAll(&loop, CommitAndFold);
}

TEST_F(CrashTest, InAFoldWithTablesWrittenMeanwhile) {
  CrashLoop loop(path_, changes_);
  CrashAll(&loop, [](CrashRun* run) -> Status {
    RETURN_IF_ERROR(run->Open());
    int calls = 0;
    run->disk->SetBeside([&] {
      ++calls;
      if (calls % 3 == 1) run->Commit().IgnoreError();
      if (calls % 8 == 2) run->store->Compact().IgnoreError();
    });
    const auto built = BuildSnapshots(run->store.get(), {});
    run->disk->SetBeside(nullptr);
    return built.status();
  });
}

Status CrashTest::MakeIndexes(CrashRun* run) {
  RETURN_IF_ERROR(run->Open());
  const auto commit = [&](uint64_t) { return run->Commit(); };
  RETURN_IF_ERROR(CreateIndex(run->store.get(), {"v1", {"k1"}}, commit).status());
  RETURN_IF_ERROR(CreateIndex(run->store.get(), {"v2", {"k2", "k0"}}, commit).status());
  RETURN_IF_ERROR(DropIndex(run->store.get(), {"v1", {"k1"}}));
  run->done = !run->disk->crashed();
  return run->Commit();
}

TEST_F(CrashTest, InIndexes) {
  CrashLoop loop(path_, changes_);
  loop.Run(MakeIndexes, [&](const CrashRun& run, const std::string& image) {
    StoreOptions options = TestOptions();
    options.create = false;
    if (run.done) {
      const auto view = GraphStore::Open(image, options).value()->View();
      EXPECT_EQ(view->schema().vertex_indexes.size(), 1);
    }
    ExpectWhole(run, image, loop.texts(), /*reads_snapshots=*/true);
  });
}

// Of a graph that a crash left with work to be done: logs, files of a fold that nobody names, an
// index that was not built to its end.
TEST_F(CrashTest, InTheOpeningAfterACrash) {
  const std::vector<std::pair<CrashLoop::Work, Remains>> crashes = {
      {CommitAndFold, Remains::kSynced}, {MakeIndexes, Remains::kHalf}};
  for (const auto& [work, remains] : crashes) {
    TempFolder left;
    CrashLoop crashed(path_, changes_);
    CrashLoop loop(crashed.LeftAt(0.6, work, remains, left), changes_);
    CrashAll(&loop, [](CrashRun* run) { return run->Open(); });
  }
}

}  // namespace
}  // namespace koios::storage::testing
