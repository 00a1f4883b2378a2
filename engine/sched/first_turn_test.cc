// Queries that begin on the thread that submits them: over by then, or handed to a worker in the
// middle of what they do.
#include "engine/sched/first_turn.h"

#include "core/testing/rounds.h"
#include "engine/engine.h"
#include "engine/testing/fan_queries.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

using testing::FanGraph;
using testing::Hops;
using testing::WaitingSink;

constexpr size_t kRoom = 1'000'000;

QueryOptions BeginsHere() {
  QueryOptions options;
  options.begins_here = true;
  return options;
}

// However slow the machine is, a first turn is so many slices.
std::unique_ptr<Engine> EngineOf(uint32_t workers, uint64_t spread_after_rows,
                                 uint64_t slices = 64) {
  EngineOptions options;
  options.first_turn_slices = slices;
  options.first_turn_nanos = uint64_t{3600} * 1'000'000'000;
  options.num_workers = workers;
  options.spread_after_rows = spread_after_rows;
  return Engine::Create(options);
}

TEST(FirstTurnTest, AShortQueryIsOverWhenItIsSubmitted) {
  const auto graph = FanGraph(10, 2);
  const auto engine = EngineOf(3, 10'000);
  for (int i = 0; i < 20; ++i) {
    auto sink = std::make_shared<WaitingSink>(kRoom);
    const auto handle = engine->Submit(Hops(1, true), graph, BeginsHere(), sink);
    ASSERT_TRUE(sink->done());
    EXPECT_TRUE(sink->Wait().status.ok());
    EXPECT_EQ(sink->last().AsInteger(), 20);
    EXPECT_EQ(sink->Wait().rows, 1u);
    EXPECT_EQ(engine->memory().used(), 0);
    handle->Cancel(Cancelled("too late"));
    handle->Resume();
    EXPECT_EQ(handle->numbers().memory_bytes, 0u);
  }
}

// The graph has more elements than a query may see before it spreads, an index gives fewer.
TEST(FirstTurnTest, ASeekStaysHoweverLargeTheGraphIs) {
  const auto graph = FanGraph(20, 10);
  const auto engine = EngineOf(3, 200);
  plan::Plan plan = Hops(0, true);
  auto spread = std::make_shared<WaitingSink>(kRoom);
  engine->Submit(plan, graph, BeginsHere(), spread);
  EXPECT_FALSE(spread->EndedHere());
  EXPECT_EQ(spread->Wait().rows, 1u);

  plan.mutable_operators(1)->mutable_exchange()->set_expected(199);
  auto stays = std::make_shared<WaitingSink>(kRoom);
  engine->Submit(plan, graph, BeginsHere(), stays);
  EXPECT_TRUE(stays->EndedHere());
  EXPECT_EQ(stays->last().AsInteger(), 20);
}

TEST(FirstTurnTest, AScanOfALabelOfFewStays) {
  auto graph = std::make_shared<storage::MemoryGraph>();
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(graph->AddVertex(Value::Long(i), i < 5 ? "few" : "many").ok());
  }
  const auto engine = EngineOf(3, 200);
  for (const char* const label : {"few", "many"}) {
    plan::Plan plan = Hops(0, true);
    plan.mutable_operators(2)->mutable_scan()->add_labels(label);
    auto sink = std::make_shared<WaitingSink>(kRoom);
    engine->Submit(plan, graph, BeginsHere(), sink);
    EXPECT_EQ(sink->EndedHere(), label == std::string_view("few"));
    EXPECT_EQ(sink->last().AsInteger(), label == std::string_view("few") ? 5 : 295);
  }
}

TEST(FirstTurnTest, AProfileNeedsNoWorkerThatTookNoPart) {
  const auto engine = EngineOf(3, 10'000);
  auto sink = std::make_shared<WaitingSink>(kRoom);
  QueryOptions options = BeginsHere();
  options.profile = true;
  engine->Submit(Hops(1, true), FanGraph(10, 2), options, sink);
  ASSERT_TRUE(sink->done());
  EXPECT_EQ(sink->Wait().operators[2].rows_out, 10u);
}

TEST(FirstTurnTest, ALongQueryGoesOnAtItsWorker) {
  constexpr int64_t kVertices = TestRounds(200, 40);
  const auto graph = FanGraph(kVertices, 8);
  for (const uint32_t workers : {1, 2, 3}) {
    for (const uint64_t spread : {0, 100, 10'000}) {
      const auto engine = EngineOf(workers, spread, /*slices=*/3);
      std::vector<std::shared_ptr<WaitingSink>> sinks;
      for (int i = 0; i < 6; ++i) {
        sinks.push_back(std::make_shared<WaitingSink>(kRoom));
        engine->Submit(Hops(3, i % 2 == 0), graph, BeginsHere(), sinks.back());
      }
      for (int i = 0; i < 6; ++i) {
        EXPECT_TRUE(sinks[i]->Wait().status.ok());
        const int64_t paths = i % 2 == 0 ? sinks[i]->last().AsInteger() : sinks[i]->rows();
        EXPECT_EQ(paths, kVertices * 512);
      }
    }
  }
}

TEST(FirstTurnTest, AClosedWindowPausesItAndACancelEndsIt) {
  const auto graph = FanGraph(200, 8);
  const auto engine = EngineOf(2, 10'000);
  auto read = std::make_shared<WaitingSink>(1);
  const auto reading = engine->Submit(Hops(3, false), graph, BeginsHere(), read);
  EXPECT_FALSE(read->done());
  read->Open(kRoom);
  reading->Resume();
  EXPECT_TRUE(read->Wait().status.ok());
  EXPECT_EQ(read->rows(), 200 * 512);

  auto unread = std::make_shared<WaitingSink>(1);
  const auto handle = engine->Submit(Hops(3, false), graph, BeginsHere(), unread);
  handle->Cancel(Cancelled("by the test"));
  EXPECT_EQ(unread->Wait().status.code(), StatusCode::kCancelled);
}

TEST(FirstTurnTest, DeadlinesAndMemoryEndIt) {
  const auto graph = FanGraph(200, 8);
  const auto engine = EngineOf(2, 10'000);
  auto late = std::make_shared<WaitingSink>(kRoom);
  QueryOptions options = BeginsHere();
  options.deadline_ns = 1;
  engine->Submit(Hops(1, true), graph, options, late);
  EXPECT_EQ(late->Wait().status.code(), StatusCode::kDeadlineExceeded);

  auto large = std::make_shared<WaitingSink>(kRoom);
  options = BeginsHere();
  options.memory_limit_bytes = 100;
  engine->Submit(Hops(2, true), graph, options, large);
  ASSERT_TRUE(large->done());
  EXPECT_EQ(large->Wait().status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(engine->memory().used(), 0);

  auto endless = std::make_shared<WaitingSink>(kRoom);
  options = BeginsHere();
  options.deadline_ns = static_cast<uint64_t>(engine->clock().NowNanos()) + 20'000'000;
  engine->Submit(Hops(14, true), graph, options, endless);
  EXPECT_EQ(endless->Wait().status.code(), StatusCode::kDeadlineExceeded);
}

TEST(FirstTurnTest, AnInvalidPlanIsRefused) {
  const auto engine = EngineOf(2, 10'000);
  plan::Plan plan = Hops(1, true);
  plan.mutable_operators(3)->clear_next();
  auto sink = std::make_shared<WaitingSink>(kRoom);
  engine->Submit(plan, FanGraph(3, 1), BeginsHere(), sink);
  ASSERT_TRUE(sink->done());
  EXPECT_EQ(sink->Wait().status.code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace koios::engine
