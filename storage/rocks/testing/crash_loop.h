// CrashLoop: does a piece of work on a graph again and again, crashes it at one point after another
// (crash_disk.h), and hands what each crash leaves to the test. KOIOS_CRASH_POINTS is how many
// points of each loop are tried, spread over all of them by KOIOS_CRASH_SEED; where there are not
// more, each is, until the work comes to its end without a crash.
#pragma once

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/log.h"
#include "core/random.h"
#include "storage/check.h"
#include "storage/rocks/store_state.h"
#include "storage/rocks/testing/crash_file_system.h"
#include "storage/rocks/testing/random_changes.h"
#include "storage/snapshot_build.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"
#include "storage/view/snapshot_view.h"
#include "storage/view/testing/graph_text.h"

namespace koios::storage::testing {

using Texts = std::map<uint64_t, std::string>;  // what a graph has, by version

inline std::shared_ptr<const GraphView> TruthOf(const GraphStore& store) {
  return StoreAccess::Of(store).NewestView();
}

// One time that the work is done.
struct CrashRun {
  std::string path;      // a copy of what the loop begins with
  StoreOptions options;  // on the disk that crashes
  std::shared_ptr<CrashDisk> disk;
  Texts* texts = nullptr;  // noted while nothing crashes
  // The work's own: of which the loop lets go when it is over.
  std::shared_ptr<GraphStore> store;
  RandomChanges changes{0};
  uint64_t acknowledged = 0;  // the newest version that was
  bool done = false;          // more than versions tell

  Status Open() {
    ASSIGN_OR_RETURN(store, GraphStore::Open(path, options));
    Note(store->View()->version());
    Settle();
    return OkStatus();
  }
  // Until RocksDB has nothing to do in the background: then each run makes about the same writes.
  void Settle() const {
    const auto database = StoreAccess::Of(*store).CurrentDatabase();
    const auto busy = [&] {
      bool is_busy = false;
      for (const char* what : {"rocksdb.mem-table-flush-pending", "rocksdb.num-running-flushes",
                               "rocksdb.compaction-pending", "rocksdb.num-running-compactions"}) {
        for (size_t i = 0; i < kNumFamilies; ++i) {
          uint64_t number = 0;
          database->db()->GetIntProperty(database->family(static_cast<Family>(i)), what, &number);
          is_busy = is_busy || number > 0;
        }
      }
      return is_busy;
    };
    while (!disk->crashed() && busy()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // The version was acknowledged.
  void Note(uint64_t version) {
    acknowledged = version;
    if (texts != nullptr) (*texts)[version] = TextOf(*TruthOf(*store));
  }
  Status Commit() {
    ASSIGN_OR_RETURN(const uint64_t version, changes.Commit(store.get()));
    Note(version);
    return OkStatus();
  }
};

class CrashLoop {
 public:
  static constexpr uint32_t kPartitions = 2;
  static constexpr int kThreads = 8;
  using Work = std::function<Status(CrashRun* run)>;
  // Whether an image of the crash is right.
  using Expect = std::function<void(const CrashRun& run, const std::string& image)>;

  // `before`: the folder that the work begins with; `changes`: those that were committed to it.
  CrashLoop(std::string before, RandomChanges changes)
      : before_(std::move(before)), changes_(std::move(changes)) {
    SetLogLevel(LogLevel::kOff);
    for (const auto kind : {rocksdb::Env::LOW, rocksdb::Env::HIGH}) {
      rocksdb::Env::Default()->SetBackgroundThreads(4 * kThreads, kind);
    }
  }
  ~CrashLoop() { SetLogLevel(LogLevel::kInfo); }
  CrashLoop(const CrashLoop&) = delete;
  CrashLoop& operator=(const CrashLoop&) = delete;

  const Texts& texts() const { return texts_; }

  // Several tries at once: RocksDB sleeps for a second when a table can't be written.
  void Run(const Work& work, const Expect& expect) {
    points_ = Points(work);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        while (!ended_ && !::testing::Test::HasFailure()) Try(next_++, work, expect);
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::printf("%llu of %llu points\n", static_cast<unsigned long long>(tried_),
                static_cast<unsigned long long>(points_));
  }

  // What is left of the work when it crashes at a part of its points: 0 to 1.
  std::string LeftAt(double part, const Work& work, Remains remains, const TempFolder& to) {
    const auto at = static_cast<uint64_t>(part * static_cast<double>(Points(work)));
    CrashRun run;
    Begin(to, at, {remains}, &run);
    EXPECT_FALSE(work(&run).ok());
    return ImageOf(to, remains);
  }

 private:
  static uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
  }
  static std::string ImageOf(const TempFolder& folder, Remains remains) {
    return folder / "aside/" + NameOf(remains);
  }
  // How many there are in work that succeeds, which gives the texts.
  uint64_t Points(const Work& work) {
    texts_.clear();
    const TempFolder folder;
    CrashRun run;
    Begin(folder, CrashDisk::kNever, {}, &run);
    run.texts = &texts_;
    const Status worked = work(&run);
    EXPECT_TRUE(worked.ok()) << worked;
    if (run.store != nullptr) run.Settle();
    run.store = nullptr;
    return run.disk->points();
  }
  void Try(uint64_t i, const Work& work, const Expect& expect) {
    const bool all = tries_ >= points_;
    if (!all && i >= tries_) {
      ended_ = true;
      return;
    }
    const uint64_t at = all ? i : (i * points_ + Rng(seed_ + i).Uniform(points_)) / tries_;
    std::vector<Remains> images(kAllRemains.begin(), kAllRemains.end());
    if (!all) images = {kAllRemains[i % kAllRemains.size()]};
    const TempFolder folder;
    CrashRun run;
    Begin(folder, at, images, &run);
    const Status worked = work(&run);
    if (run.store != nullptr) run.Settle();
    run.store = nullptr;
    if (!run.disk->crashed()) {
      // Behind the last point, or so few as there are when threads of RocksDB meet otherwise.
      if (all && at >= points_) ended_ = true;
      return;
    }
    ++tried_;
    for (const Remains remains : images) {
      SCOPED_TRACE("KOIOS_CRASH_SEED=" + std::to_string(seed_) + ", point " + std::to_string(at) +
                   " of " + std::to_string(points_) + ", at " + run.disk->where() +
                   ", left: " + NameOf(remains) + ", the work ended with " + worked.ToString());
      expect(run, ImageOf(folder, remains));
    }
  }
  void Begin(const TempFolder& folder, uint64_t at, const std::vector<Remains>& images,
             CrashRun* run) {
    run->path = folder / "g";
    std::filesystem::copy(before_, run->path, std::filesystem::copy_options::recursive);
    run->disk = std::make_shared<CrashDisk>(run->path, folder / "aside", at, images);
    run->options = TestOptions(kPartitions);
    run->options.create = false;
    run->options.disk = CrashDisk::For(run->disk);
    run->changes = changes_;
  }

  const std::string before_;
  const RandomChanges changes_;
  const uint64_t tries_ = FromEnvironment("KOIOS_CRASH_POINTS", 4);
  const uint64_t seed_ = FromEnvironment("KOIOS_CRASH_SEED", 1);
  Texts texts_;
  uint64_t points_ = 0;
  std::atomic<uint64_t> next_{0}, tried_{0};
  std::atomic<bool> ended_{false};
};

// Opens what a crash left of a graph and expects it to be right: all that was acknowledged, at most
// one commit more, and everything goes on from there. `reads_snapshots`: they are not to be built
// anew for that.
inline void ExpectWhole(const CrashRun& run, const std::string& image, const Texts& texts,
                        bool reads_snapshots) {
  StoreOptions options = TestOptions(CrashLoop::kPartitions);
  options.create = false;
  for (const bool again : {false, true}) {
    auto opened = GraphStore::Open(image, options);
    ASSERT_TRUE(opened.ok()) << opened.status();
    GraphStore* const store = opened->get();
    const StoreState& state = StoreAccess::Of(*store);
    const auto expect_same = [&] {
      const auto view = store->View();
      ExpectSame(*view, *TruthOf(*store), run.changes.known());
      const auto report = Check(*store);
      ASSERT_TRUE(report.ok()) << report.status();
      EXPECT_TRUE(report->ok()) << report->problems[0];
    };
    expect_same();
    if (again) break;
    const uint64_t version = store->View()->version();
    // The first is what the work began with.
    const uint64_t acknowledged = std::max(run.acknowledged, texts.begin()->first);
    EXPECT_GE(version, acknowledged);
    EXPECT_LE(version, acknowledged + 1);
    ASSERT_TRUE(texts.contains(version)) << version;
    EXPECT_EQ(TextOf(*TruthOf(*store)), texts.at(version));
    EXPECT_EQ(TextOf(*store->View()), texts.at(version));
    const bool reads = dynamic_cast<const SnapshotView*>(store->View().get()) != nullptr;
    EXPECT_TRUE(reads || !reads_snapshots);
    const std::string snapshots = state.snapshot_folder();
    const size_t files = PathExists(snapshots) ? ListFolder(snapshots)->size() : 0;
    EXPECT_EQ(files, state.Snapshots().size());
    for (const auto& [id, index] : store->View()->schema().vertex_indexes) {
      EXPECT_TRUE(index.ready);
    }
    // And it goes on from there.
    ASSERT_TRUE(store->Commit(AddVertexBatch(version, Value::Long(5000))).ok());
    const auto built = BuildSnapshots(store, {});
    ASSERT_TRUE(built.ok()) << built.status();
    expect_same();
    EXPECT_TRUE(dynamic_cast<const SnapshotView*>(store->View().get()) != nullptr);
  }
}

}  // namespace koios::storage::testing
