// Random commits, with folds between them at random: what views read from snapshots and the delta
// is what the truth has at their version, also of views that are held while the graph goes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/mutex.h"
#include "core/random.h"
#include "core/testing/rounds.h"
#include "storage/check.h"
#include "storage/rocks/store_state.h"
#include "storage/rocks/testing/random_changes.h"
#include "storage/snapshot_build.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"
#include "storage/view/snapshot_view.h"
#include "storage/view/testing/graph_text.h"
#include "storage/view/testing/same_views.h"

namespace koios::storage {
namespace {

const GraphView& TruthOf(const GraphView& view) {
  const auto* read = dynamic_cast<const SnapshotView*>(&view);
  CHECK(read != nullptr);
  return read->truth();
}

class DeltaViewTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  void Open() {
    store_ = nullptr;
    store_ = GraphStore::Open(folder_ / "g", TestOptions(3)).value();
  }
  void Commit() {
    const auto committed = changes_.Commit(store_.get());
    ASSERT_TRUE(committed.ok()) << committed.status();
  }

  TempFolder folder_;
  std::unique_ptr<GraphStore> store_;
  testing::RandomChanges changes_{GetParam()};
};

TEST_P(DeltaViewTest, HeldViewsAreWhatTheTruthWas) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  Open();
  Rng random(GetParam());
  changes_ = testing::RandomChanges(GetParam() + 100);
  std::vector<std::shared_ptr<const GraphView>> held;
  for (int step = 0; step < 50 && !HasFailure(); ++step) {
    Commit();
    if (random.Chance(0.2)) held.push_back(store_->View());
    if (random.Chance(0.1)) {
      SnapshotOptions options;
      options.all_partitions = random.Chance(0.3);
      ASSERT_TRUE(BuildSnapshots(store_.get(), options).ok());
    }
    if (step % 10 != 9) continue;
    held.push_back(store_->View());
    for (const auto& view : held) {
      testing::ExpectSame(*view, TruthOf(*view), changes_.known());
    }
    if (held.size() > 4) held.clear();
  }
  held.clear();
  Open();
  testing::ExpectSame(*store_->View(), TruthOf(*store_->View()), changes_.known());
  EXPECT_TRUE(Check(*store_)->ok());
}

// One thread commits and folds; others read, each the version that it got.
TEST_P(DeltaViewTest, ReadersBesideCommits) {
  Open();
  for (int i = 0; i < 30; ++i) Commit();
  const testing::Known known = changes_.known();
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
    Commit();
    SnapshotOptions options;
    options.all_partitions = false;
    if (i % 20 != 7) continue;
    EXPECT_TRUE(BuildSnapshots(store_.get(), options).ok());
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  testing::ExpectSame(*store_->View(), TruthOf(*store_->View()), changes_.known());
}

// Views of several versions, the first from before there was a snapshot, are read while the graph
// is folded under them again and again, whole and in part, with commits beside it: each says what
// the graph was at its version, then written down, and what the truth says of that.
TEST_P(DeltaViewTest, OldViewsDuringFolds) {
  struct Held {
    std::shared_ptr<const GraphView> view;
    testing::Known known;
    std::string text;
    int reads_during_folds = 0;
  };
  Open();
  for (int i = 0; i < 25; ++i) Commit();
  Mutex mutex;
  std::vector<std::shared_ptr<Held>> held;
  const auto hold = [&] {
    auto one = std::make_shared<Held>();
    one->view = store_->View();
    one->known = changes_.known();
    one->text = testing::TextOf(TruthOf(*one->view));
    MutexLock lock(&mutex);
    held.push_back(std::move(one));
  };
  hold();
  std::atomic<bool> done{false}, folding{false};
  std::vector<std::thread> readers;
  for (uint64_t i = 0; i < 3; ++i) {
    readers.emplace_back([&, i] {
      Rng random(GetParam() * 10 + i);
      while (!done && !HasFailure()) {
        std::shared_ptr<Held> one;
        {
          MutexLock lock(&mutex);
          one = held[random.Uniform(held.size())];
          if (folding) ++one->reads_during_folds;
        }
        if (random.Chance(0.8)) {
          EXPECT_EQ(testing::TextOf(*one->view), one->text) << one->view->version();
        } else {
          testing::ExpectSame(*one->view, TruthOf(*one->view), one->known);
        }
      }
    });
  }
  const auto all_were_read = [&] {
    MutexLock lock(&mutex);
    return std::all_of(held.begin(), held.end(),
                       [](const auto& one) { return one->reads_during_folds >= 5; });
  };
  constexpr int kFolds = 12, kMostFolds = 1000;
  for (int i = 0; i < kMostFolds && !HasFailure() && (i < kFolds || !all_were_read()); ++i) {
    Commit();
    if (i < kFolds && i % 3 != 2) hold();
    SnapshotOptions options;
    options.all_partitions = i % 2 == 0;
    folding = true;
    const auto report = BuildSnapshots(store_.get(), options, [&](const SnapshotProgress&) {
      Commit();
      return OkStatus();
    });
    folding = false;
    EXPECT_TRUE(report.ok()) << report.status();
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_TRUE(all_were_read());
  for (const auto& one : held) EXPECT_EQ(testing::TextOf(*one->view), one->text);
}

// While snapshots are built commits go on: what they changed is in the delta on top of them.
TEST_P(DeltaViewTest, CommitsDuringAFold) {
  Open();
  for (int i = 0; i < 30; ++i) Commit();
  auto before = store_->View();
  const uint64_t folded = before->version();
  const auto commit = [&](const SnapshotProgress&) {
    Commit();
    return OkStatus();
  };
  const auto report = BuildSnapshots(store_.get(), {}, commit);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->version, folded);
  EXPECT_GT(store_->View()->version(), folded);
  testing::ExpectSame(*store_->View(), TruthOf(*store_->View()), changes_.known());
  testing::ExpectSame(*before, TruthOf(*before), changes_.known());
  before = nullptr;
  Open();
  testing::ExpectSame(*store_->View(), TruthOf(*store_->View()), changes_.known());
  EXPECT_EQ(StoreAccess::Of(*store_).CurrentReadable().base->version(), folded);
}

INSTANTIATE_TEST_SUITE_P(Seeds, DeltaViewTest, ::testing::Range<uint64_t>(1, TestRounds(6, 3)));

}  // namespace
}  // namespace koios::storage
