// What is left of queries that were cancelled, at whatever moment: no byte on any account, no part
// at any worker, no thread, no file.
#include <dirent.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "core/random.h"
#include "core/testing/rounds.h"
#include "engine/engine.h"
#include "engine/sim/simulation.h"
#include "engine/testing/fan_queries.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

using testing::Add;
using testing::FanGraph;
using testing::Hops;
using testing::WaitingSink;

size_t NumEntries(const char* folder) {
  size_t count = 0;
  DIR* dir = opendir(folder);
  while (dir != nullptr && readdir(dir) != nullptr) ++count;
  if (dir != nullptr) closedir(dir);
  return count;
}

// Files without a name that this process has open.
size_t NumUnnamedFiles() {
  size_t count = 0;
  DIR* dir = opendir("/proc/self/fd");
  while (const dirent* entry = dir == nullptr ? nullptr : readdir(dir)) {
    char target[256] = {};
    const std::string link = std::string("/proc/self/fd/") + entry->d_name;
    if (readlink(link.c_str(), target, sizeof(target) - 1) <= 0) continue;
    if (std::string(target).find("(deleted)") != std::string::npos) ++count;
  }
  if (dir != nullptr) closedir(dir);
  return count;
}

// V().out()...order(): rows rest, and go to disk when there are many.
plan::Plan Ordered(int hops) {
  plan::Plan plan = Hops(hops, false);
  plan.mutable_operators()->RemoveLast();
  const int home = plan.operators_size() - 1;
  plan.mutable_operators(home)->clear_next();
  Add(&plan, "order()")->mutable_order()->add_keys();
  Add(&plan, "sink")->mutable_sink();
  return plan;
}

constexpr int kQueries = TestRounds(10'000, 2'000);

TEST(CancelledQueriesTest, NothingIsLeftOfThemOnThreads) {
  constexpr size_t kOpen = 50;
  const auto graph = FanGraph(60, 4);
  std::thread([] {}).join();  // with the first thread tsan starts one of its own, which stays
  const size_t threads_before = NumEntries("/proc/self/task");
  {
    EngineOptions options;
    options.num_workers = 3;
    options.spread_after_rows = 0;
    options.query_memory_bytes = 1 << 20;
    options.spill_folder = "/tmp";
    const auto engine = Engine::Create(options);
    const size_t threads = NumEntries("/proc/self/task");
    struct Open {
      std::shared_ptr<WaitingSink> sink;
      std::shared_ptr<QueryHandle> handle;
    };
    std::vector<Open> open;
    Rng rng(12);
    int cancelled = 0;
    int ended = 0;
    for (int i = 0; i < kQueries || !open.empty(); ++i) {
      if (i < kQueries) {
        QueryOptions query;
        query.begins_here = rng.Uniform(2) == 0;
        const int hops = 1 + static_cast<int>(rng.Uniform(6));
        const plan::Plan plan = i % 10 == 0 ? Ordered(6) : Hops(hops, i % 2 == 0);
        auto sink = std::make_shared<WaitingSink>(rng.Uniform(3) == 0 ? 0 : 1000);
        open.push_back({sink, engine->Submit(plan, graph, query, sink)});
      }
      if (open.size() < kOpen && i < kQueries) continue;
      std::swap(open[rng.Uniform(open.size())], open.back());
      open.back().handle->Cancel(Cancelled("by the test"));
      const QueryResult result = open.back().sink->Wait();
      // Or it was too much for its memory, or over, before the cancel came.
      (result.status.code() == StatusCode::kCancelled ? cancelled : ended) += 1;
      open.pop_back();
    }
    EXPECT_EQ(cancelled + ended, kQueries);
    EXPECT_GT(cancelled, kQueries / 4);
    // Parts at other workers hear of the end a moment later.
    for (int i = 0; i < 10'000 && (engine->memory().used() != 0 || NumUnnamedFiles() > 0); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(engine->memory().used(), 0);
    EXPECT_EQ(NumUnnamedFiles(), 0u);
    EXPECT_EQ(NumEntries("/proc/self/task"), threads);
  }
  // A thread that was joined is gone from there a moment later.
  for (int i = 0; i < 10'000 && NumEntries("/proc/self/task") != threads_before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(NumEntries("/proc/self/task"), threads_before);
}

// Simulate() looks whether anything is left: parts, bytes, spilled blocks.
TEST(CancelledQueriesTest, NothingIsLeftOfThemInAnySchedule) {
  constexpr uint64_t kSchedules = kQueries * 2 / 5;
  const auto graph = FanGraph(12, 3);
  int cancelled = 0;
  for (uint64_t seed = 1; seed <= kSchedules; ++seed) {
    Rng rng(seed);
    SimulationOptions options;
    options.seed = seed;
    options.num_workers = 1 + static_cast<uint32_t>(rng.Uniform(4));
    options.serialize = rng.Uniform(4) == 0;
    options.bounds.batch_rows = 1 + rng.Uniform(16);
    options.spills = rng.Uniform(2) == 0;
    options.sink_window = 1 + static_cast<uint32_t>(rng.Uniform(3));
    options.first_turn_slices = rng.Uniform(3) == 0 ? 2 : 0;
    options.cancel_after_turns = 1 + rng.Uniform(100);
    const int hops = 1 + static_cast<int>(rng.Uniform(3));
    const plan::Plan plan = rng.Uniform(2) == 0 ? Ordered(hops) : Hops(hops, rng.Uniform(2) == 0);
    const SimulationResult result = Simulate(plan, graph, options);
    ASSERT_NE(result.status.code(), StatusCode::kInternal) << "seed " << seed << result.status;
    cancelled += result.status.code() == StatusCode::kCancelled ? 1 : 0;
  }
  EXPECT_GT(cancelled, static_cast<int>(kSchedules / 8));
}

}  // namespace
}  // namespace koios::engine
