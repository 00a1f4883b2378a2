// The engine on real threads: answers, streaming with a closed window, cancellation, deadline,
// limits. Links no gRPC, so that the thread sanitizer can watch.
#include "engine/engine.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/mutex.h"
#include "core/path/path.h"
#include "core/testing/make_value.h"
#include "core/testing/rounds.h"
#include "core/value_codec.h"
#include "engine/batch/batch.h"
#include "engine/testing/fan_queries.h"
#include "gtest/gtest.h"
#include "storage/memory_graph.h"

namespace koios::engine {
namespace {

// What another worker has of a query is given back when it hears of the end, a moment later.
int64_t UsedInTheEnd(Engine& engine) {
  for (int waits = 0; engine.memory().used() != 0 && waits < 10'000; ++waits) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return engine.memory().used();
}

using testing::Add;
using testing::AddScan;
using testing::FanGraph;
using testing::Hops;
using testing::WaitingSink;

EngineOptions Workers(uint32_t n) {
  EngineOptions options;
  options.num_workers = n;
  options.spread_after_rows = 0;
  return options;
}

TEST(EngineTest, CountsOnAnyNumberOfWorkers) {
  const auto graph = FanGraph(100, 3);
  for (const uint32_t workers : {1u, 2u, 4u}) {
    const auto engine = Engine::Create(Workers(workers));
    auto sink = std::make_shared<WaitingSink>();
    engine->Submit(Hops(4, true), graph, {}, sink);
    EXPECT_TRUE(sink->Wait().status.ok());
    EXPECT_EQ(sink->last().AsInteger(), 100 * 81);
  }
}

TEST(EngineTest, ManyQueriesAtOnce) {
  const auto graph = FanGraph(50, 2);
  const auto engine = Engine::Create(Workers(3));
  std::vector<std::shared_ptr<WaitingSink>> sinks;
  for (int i = 0; i < 50; ++i) {
    sinks.push_back(std::make_shared<WaitingSink>());
    engine->Submit(Hops(1 + i % 5, true), graph, {}, sinks.back());
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(sinks[i]->Wait().status.ok());
    EXPECT_EQ(sinks[i]->last().AsInteger(), 50 << (1 + i % 5));
  }
  EXPECT_EQ(UsedInTheEnd(*engine), 0);
}

// Isolated workers add vertices with ids of their own partitions: one that has none gets no rows
// and coordinates nothing.
TEST(EngineTest, MoreIsolatedWorkersThanPartitions) {
  plan::Plan plan;
  plan.set_format(1);
  plan.set_num_slots(1);
  plan.set_mutates(true);
  plan::Inject* const inject = Add(&plan, "inject()")->mutable_inject();
  for (const int64_t value : {1, 2, 3, 3}) inject->add_values(EncodeValue(Value::Long(value)));
  plan::Exchange* const by_value = Add(&plan, "dedup()")->mutable_exchange();
  by_value->set_key(plan::Exchange::HASH);
  by_value->add_hash_slots(0);
  Add(&plan, "dedup()")->mutable_dedup()->add_key_slots(0);
  plan::AddVertex* const add = Add(&plan, "addV()")->mutable_add_vertex();
  add->mutable_label()->add_nodes()->set_constant(EncodeValue(Value::String("v")));
  Add(&plan, "sink")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(&plan, "sink")->mutable_sink();
  EngineOptions options = Workers(8);
  options.isolated = true;
  const auto engine = Engine::Create(options);
  const auto graph = std::make_shared<storage::MemoryGraph>(3);
  for (int query = 0; query < 16; ++query) {  // each worker's turn to coordinate
    QueryOptions of_query;
    of_query.transaction = std::make_shared<storage::Transaction>(graph, graph->NewNumbers());
    auto sink = std::make_shared<WaitingSink>();
    engine->Submit(plan, of_query.transaction, of_query, sink);
    const QueryResult result = sink->Wait();
    EXPECT_TRUE(result.status.ok());
    EXPECT_EQ(sink->rows(), 3);
    of_query.transaction->Absorb(result.parts);
    EXPECT_EQ(of_query.transaction->TakeBatch().vertices.size(), 3u);
  }
}

// The memory of an enumeration does not depend on how many paths there are: 3 and 5 hops differ by
// a factor of 64 in rows, and stay below the same bound.
TEST(EngineTest, EnumerationStaysFlat) {
  constexpr uint64_t kVertices = TestRounds(200, 20);
  const auto graph = FanGraph(kVertices, 8);
  for (const uint32_t workers : {1u, 3u}) {
    const auto engine = Engine::Create(Workers(workers));
    for (const int hops : {3, 5}) {
      auto sink = std::make_shared<WaitingSink>(1'000'000);
      engine->Submit(Hops(hops, false), graph, {}, sink);
      const QueryResult result = sink->Wait();
      EXPECT_TRUE(result.status.ok());
      EXPECT_EQ(sink->rows(), kVertices * (hops == 3 ? 512 : 32768));
      EXPECT_LT(result.numbers.peak_bytes, 6u << 20);
    }
  }
}

void SetSlot(plan::Project* project, uint32_t from, uint32_t to) {
  project->mutable_expr()->add_nodes()->set_slot(from);
  project->set_slot(to);
}

// V(), with `text` in slot 1 of every row.
plan::Plan WideRows(const std::string& text) {
  plan::Plan plan;
  plan.set_num_slots(2);
  AddScan(&plan);
  plan::Project* project = Add(&plan, "as()")->mutable_project();
  project->mutable_expr()->add_nodes()->set_constant(EncodeValue(Value::String(text)));
  project->set_slot(1);
  return plan;
}

// select() of what is in slot 1, and the results.
void AddWideResults(plan::Plan* plan) {
  SetSlot(Add(plan, "select()")->mutable_project(), 1, 0);
  Add(plan, "sink")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(plan, "sink")->mutable_sink();
}

// Runs the plan with profile, and checks that its results came whole, in batches of some size.
QueryResult RunWide(const plan::Plan& plan, uint32_t workers, int64_t rows) {
  const auto engine = Engine::Create(Workers(workers));
  auto sink = std::make_shared<WaitingSink>(1'000'000);
  QueryOptions options;
  options.profile = true;
  engine->Submit(plan, FanGraph(64, 64), options, sink);
  QueryResult result = sink->Wait();
  EXPECT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(sink->rows(), rows);
  EXPECT_LE(sink->largest(), 2 * kBatchBytes);
  EXPECT_GE(sink->largest(), kBatchBytes / 4);
  return result;
}

// The slots that every row keeps count, whoever makes many rows of one.
TEST(EngineTest, BatchesOfWideRowsHaveFewerRows) {
  const std::string text(2048, 'x');
  for (const uint32_t workers : {1u, 3u}) {
    plan::Plan plan = WideRows(text);
    Add(&plan, "outE()")->mutable_expand()->set_to(plan::Expand::INCIDENT);
    Add(&plan, "bothV()")->mutable_edge_end()->set_end(plan::EdgeEnd::BOTH_VERTICES);
    Add(&plan, "out()")->mutable_exchange()->set_key(plan::Exchange::OWNER);
    plan::Inject* inject = Add(&plan, "inject()")->mutable_inject();
    for (int i = 0; i < 2; ++i) inject->add_values(EncodeValue(Value::Int(i)));
    Add(&plan, "hash")->mutable_exchange()->set_key(plan::Exchange::HASH);
    plan.mutable_operators(plan.operators_size() - 1)->mutable_exchange()->add_hash_slots(0);
    AddWideResults(&plan);
    RunWide(plan, workers, 64 * 64 * 2 * 2);
  }
}

// A list of many small members beside a wide slot; many small rows leave scopes that wide ones
// entered; and many rows wait for a barrier.
TEST(EngineTest, BatchesOfWideRowsBehindUnfoldScopesAndBarriers) {
  const std::string text(2048, 'x');
  plan::Plan plan = WideRows(text);
  Add(&plan, "flatMap()")->mutable_scope_enter();
  const int body = plan.operators_size();
  plan.mutable_operators(body - 1)->add_drop_slots(1);
  Add(&plan, "out()")->mutable_expand()->set_to(plan::Expand::NEIGHBOUR);
  Add(&plan, "flatMap()")->mutable_exchange()->set_key(plan::Exchange::HOME);
  for (int id : {body, body + 1}) {
    plan.mutable_operators(id)->set_scope(static_cast<uint32_t>(body));
  }
  plan::ScopeExit* exit = Add(&plan, "flatMap()")->mutable_scope_exit();
  exit->set_enter(static_cast<uint32_t>(body) - 1);
  exit->set_policy(plan::ScopeExit::ALL);
  plan::Project* list = Add(&plan, "constant()")->mutable_project();
  list->mutable_expr()->add_nodes()->set_constant(
      EncodeValue(ListOf({Value::Int(1), Value::Int(2), Value::Int(3)})));
  Add(&plan, "unfold()")->mutable_unfold();
  Add(&plan, "barrier()")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(&plan, "barrier()")->mutable_barrier();
  AddWideResults(&plan);
  RunWide(plan, 1, 64 * 64 * 3);
}

// Slot 1, a path, gets the current value.
void AddPath(plan::Plan* plan) {
  plan::Project* project = Add(plan, "path()")->mutable_project();
  project->mutable_expr()->add_nodes()->set_slot(1);
  project->mutable_expr()->add_nodes()->set_slot(0);
  plan::Expr::Call* call = project->mutable_expr()->add_nodes()->mutable_call();
  call->set_function("path_append");
  call->add_args(0);
  call->add_args(1);
  project->set_slot(1);
  project->set_absent(plan::Project::LEAVE_ABSENT);
}

// loops(1) compared with `times`.
void SetTest(plan::Expr* expr, const char* function, int64_t times) {
  expr->add_nodes()->set_constant(EncodeValue(Value::Int(1)));
  plan::Expr::Call* loops = expr->add_nodes()->mutable_call();
  loops->set_function("loops");
  loops->add_args(0);
  expr->add_nodes()->set_constant(EncodeValue(Value::Long(times)));
  plan::Expr::Call* test = expr->add_nodes()->mutable_call();
  test->set_function(function);
  test->add_args(1);
  test->add_args(2);
}

// V().repeat(out()).times(times).path().limit(2000)
plan::Plan LongPaths(int64_t times) {
  plan::Plan plan;
  plan.set_num_slots(2);
  AddScan(&plan);
  AddPath(&plan);
  Add(&plan, "repeat()")->mutable_loop_enter();
  Add(&plan, "out()")->mutable_expand();
  AddPath(&plan);
  plan::Split* split = Add(&plan, "repeat()")->mutable_split();
  SetTest(split->add_options()->mutable_test(), "lt", times);
  SetTest(split->add_options()->mutable_test(), "gte", times);
  Add(&plan, "repeat()")->mutable_loop_back()->set_enter(4);
  for (int body = 5; body <= 8; ++body) plan.mutable_operators(body)->set_loop(5);
  Add(&plan, "repeat()")->mutable_loop_exit()->set_enter(4);
  plan.mutable_operators(8)->set_next(0, 5);
  plan.mutable_operators(7)->add_next(9);
  SetSlot(Add(&plan, "path()")->mutable_project(), 1, 0);
  Add(&plan, "limit()")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(&plan, "limit()")->mutable_limit()->set_high(2000);
  Add(&plan, "sink")->mutable_sink();
  return plan;
}

// What waits in each iteration is bounded in bytes, however long the paths are, and rows share
// them: a hop costs one object, so that 100,000 hops of one row take 6.4 MB.
TEST(EngineTest, LongPathsTakeBoundedMemory) {
  const auto engine = Engine::Create(Workers(1));
  for (const auto& [times, vertices, fan, rows, bound] :
       {std::tuple(30u, 200, 8, 2000, 16u << 20),
        std::tuple(uint32_t{TestRounds(200, 60)}, 200, 8, 2000, 128u << 20),
        std::tuple(uint32_t{TestRounds(100'000, 20'000)}, 1, 1, 1,
                   uint32_t{TestRounds(8, 2)} << 20)}) {
    auto sink = std::make_shared<WaitingSink>(1'000'000);
    engine->Submit(LongPaths(times), FanGraph(vertices, fan), {}, sink);
    const QueryResult result = sink->Wait();
    EXPECT_TRUE(result.status.ok()) << result.status;
    EXPECT_EQ(sink->rows(), rows);
    EXPECT_EQ(sink->last().AsPath().length(), times + 1);
    EXPECT_LT(result.numbers.peak_bytes, bound);
    // A result that somebody has stays charged.
    EXPECT_GE(engine->memory().used(), static_cast<int64_t>((times + 1) * sizeof(PathNode)));
    sink->ForgetKept();
    EXPECT_EQ(engine->memory().used(), 0);
  }
}

// Other queries, one after the other: with each, those that run already have another turn.
void LetOthersRun(Engine* engine, int queries) {
  for (int other = 0; other < queries; ++other) {
    auto quick = std::make_shared<WaitingSink>();
    engine->Submit(Hops(1, true), FanGraph(1, 1), {}, quick);
    EXPECT_TRUE(quick->Wait().status.ok());
  }
}

// Each iteration has queues of its own; while nobody reads, they fill, but not the account.
TEST(EngineTest, ManyIterationsHaveShortQueues) {
  const auto engine = Engine::Create(Workers(1));
  auto sink = std::make_shared<WaitingSink>(1);
  QueryOptions options;
  options.memory_limit_bytes = 160 << 20;
  const auto handle = engine->Submit(LongPaths(60), FanGraph(200, 8), options, sink);
  sink->WaitForRows();
  LetOthersRun(engine.get(), 1000);
  sink->Open(1'000'000);
  handle->Resume();
  const QueryResult result = sink->Wait();
  EXPECT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(sink->rows(), 2000);
  EXPECT_LT(result.numbers.peak_bytes, 128u << 20);
}

// Rows that leave a scope when it is complete don't pile up behind it while nobody reads.
TEST(EngineTest, RowsThatAScopeLetsGoWait) {
  plan::Plan plan = WideRows(std::string(512, 'x'));
  const auto enter = static_cast<uint32_t>(plan.operators_size());
  Add(&plan, "not()")->mutable_scope_enter();
  Add(&plan, "out()")->mutable_expand()->add_labels("none");
  Add(&plan, "not()")->mutable_exchange()->set_key(plan::Exchange::HOME);
  for (uint32_t id : {enter + 1, enter + 2}) {
    plan.mutable_operators(static_cast<int>(id))->set_scope(enter + 1);
  }
  plan::ScopeExit* exit = Add(&plan, "not()")->mutable_scope_exit();
  exit->set_enter(enter);
  exit->set_policy(plan::ScopeExit::NONE);
  AddWideResults(&plan);
  const auto engine = Engine::Create(Workers(1));
  auto sink = std::make_shared<WaitingSink>(1);
  QueryOptions options;
  options.memory_limit_bytes = 16 << 20;
  const auto handle = engine->Submit(plan, FanGraph(60'000, 0), options, sink);
  sink->WaitForRows();
  LetOthersRun(engine.get(), 300);
  sink->Open(1'000'000);
  handle->Resume();
  const QueryResult result = sink->Wait();
  EXPECT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(sink->rows(), 60'000);
}

// V().values()
plan::Plan AllValues() {
  plan::Plan plan;
  plan.set_num_slots(1);
  AddScan(&plan);
  Add(&plan, "values()")->mutable_fetch();
  Add(&plan, "sink")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(&plan, "sink")->mutable_sink();
  return plan;
}

// A query that ends while an operator still holds what it has not given out.
TEST(EngineTest, ACancelFindsPropertiesNotYetGivenOut) {
  auto graph = std::make_shared<storage::MemoryGraph>();
  for (int i = 0; i < 4000; ++i) {
    const Value text = Value::String(std::string(100, 'x'));
    CHECK(graph->AddVertex(Value::Long(i), "v", {{"a", text}, {"b", text}, {"c", text}}).ok());
  }
  const auto engine = Engine::Create(Workers(1));
  auto sink = std::make_shared<WaitingSink>(1);
  const auto handle = engine->Submit(AllValues(), graph, {}, sink);
  sink->WaitForRows();
  LetOthersRun(engine.get(), 100);
  handle->Cancel(Cancelled("by the test"));
  EXPECT_EQ(sink->Wait().status.code(), StatusCode::kCancelled);
}

// Values are read as many elements at a time as fill a batch, not a batch of elements at once.
TEST(EngineTest, WideValuesAreReadInSlices) {
  auto graph = std::make_shared<storage::MemoryGraph>();
  const Value text = Value::String(std::string(100'000, 'x'));
  for (int i = 0; i < 600; ++i) CHECK(graph->AddVertex(Value::Long(i), "v", {{"a", text}}).ok());
  const auto engine = Engine::Create(Workers(1));
  auto sink = std::make_shared<WaitingSink>(1'000'000);
  QueryOptions options;
  options.memory_limit_bytes = 16 << 20;
  engine->Submit(AllValues(), graph, options, sink);
  const QueryResult result = sink->Wait();
  EXPECT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(sink->rows(), 600);
}

TEST(EngineTest, AClosedWindowPausesTheQuery) {
  const auto graph = FanGraph(200, 8);
  const auto engine = Engine::Create(Workers(2));
  auto sink = std::make_shared<WaitingSink>(1);
  const auto handle = engine->Submit(Hops(4, false), graph, {}, sink);
  sink->WaitForRows();
  const int64_t seen = sink->rows();
  EXPECT_LE(seen, static_cast<int64_t>(1024));
  sink->Open(1'000'000);
  handle->Resume();
  EXPECT_TRUE(sink->Wait().status.ok());
  EXPECT_EQ(sink->rows(), 200 * 4096);
}

TEST(EngineTest, CancelAndDeadlineEndAndFreeEverything) {
  const auto graph = FanGraph(200, 8);
  const auto engine = Engine::Create(Workers(2));
  auto cancelled = std::make_shared<WaitingSink>(2);
  const auto handle = engine->Submit(Hops(12, false), graph, {}, cancelled);
  cancelled->WaitForRows();
  handle->Cancel(Cancelled("by the test"));
  EXPECT_EQ(cancelled->Wait().status.code(), StatusCode::kCancelled);

  auto late = std::make_shared<WaitingSink>(2);
  QueryOptions options;
  options.deadline_ns = static_cast<uint64_t>(engine->clock().NowNanos()) + 20'000'000;
  engine->Submit(Hops(12, true), graph, options, late);
  EXPECT_EQ(late->Wait().status.code(), StatusCode::kDeadlineExceeded);
}

TEST(EngineTest, AStoppedEngineAnswersEverybody) {
  const auto graph = FanGraph(200, 8);
  auto sink = std::make_shared<WaitingSink>(1);
  {
    const auto engine = Engine::Create(Workers(2));
    engine->Submit(Hops(10, false), graph, {}, sink);
    sink->WaitForRows();
  }
  EXPECT_EQ(sink->Wait().status.code(), StatusCode::kCancelled);
}

TEST(EngineTest, AnInvalidPlanIsRefused) {
  const auto engine = Engine::Create(Workers(2));
  auto sink = std::make_shared<WaitingSink>();
  plan::Plan plan = Hops(1, true);
  plan.mutable_operators(3)->clear_next();
  engine->Submit(plan, FanGraph(3, 1), {}, sink);
  EXPECT_EQ(sink->Wait().status.code(), StatusCode::kInternal);
}

TEST(EngineTest, StateOverTheLimitNamesTheStep) {
  const auto graph = FanGraph(3000, 2);
  const auto engine = Engine::Create(Workers(2));
  plan::Plan plan;
  plan.set_num_slots(1);
  AddScan(&plan);
  Add(&plan, "fold()")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(&plan, "fold()")->mutable_reduce()->set_function(plan::Reduce::FOLD);
  Add(&plan, "sink")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(&plan, "sink")->mutable_sink();
  auto sink = std::make_shared<WaitingSink>();
  QueryOptions options;
  options.memory_limit_bytes = 64 << 10;
  engine->Submit(plan, graph, options, sink);
  const QueryResult result = sink->Wait();
  EXPECT_EQ(result.status.code(), StatusCode::kResourceExhausted);
  ASSERT_TRUE(DetailOf(result.status).has_value());
  EXPECT_FALSE(DetailOf(result.status)->step.empty());
  EXPECT_FALSE(DetailOf(result.status)->setting.empty());
}

// The sink is no step of the text; and either limit may be the one that refuses.
TEST(EngineTest, ResultsOverALimitNameTheStepBeforeThemAndTheLimit) {
  const auto graph = FanGraph(3000, 2);
  plan::Plan plan;
  plan.set_num_slots(1);
  AddScan(&plan);
  Add(&plan, "")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(&plan, "")->mutable_sink();
  for (const bool shared : {false, true}) {
    constexpr uint64_t kLimit = 4 << 10;
    EngineOptions engine_options = Workers(2);
    if (shared) engine_options.process_memory_bytes = kLimit;
    const auto engine = Engine::Create(engine_options);
    auto sink = std::make_shared<WaitingSink>();
    QueryOptions options;
    options.memory_limit_bytes = shared ? 0 : kLimit;
    engine->Submit(plan, graph, options, sink);
    const Status status = sink->Wait().status;
    ASSERT_EQ(status.code(), StatusCode::kResourceExhausted) << status;
    EXPECT_EQ(DetailOf(status)->step, "V()");
    EXPECT_EQ(DetailOf(status)->reason, shared ? "PROCESS_MEMORY" : "QUERY_MEMORY");
    EXPECT_EQ(DetailOf(status)->setting, shared ? "memory-mb" : "query-memory-mb");
    EXPECT_NE(DetailOf(status)->limit.find(std::to_string(kLimit)), std::string::npos);
  }
}

// V().out().out().path().fold()
plan::Plan FoldOfPaths() {
  plan::Plan plan;
  plan.set_num_slots(2);
  AddScan(&plan);
  AddPath(&plan);
  for (int hop = 0; hop < 2; ++hop) {
    Add(&plan, "out()")->mutable_exchange()->set_key(plan::Exchange::OWNER);
    Add(&plan, "out()")->mutable_expand();
    AddPath(&plan);
  }
  SetSlot(Add(&plan, "path()")->mutable_project(), 1, 0);
  Add(&plan, "fold()")->mutable_exchange()->set_key(plan::Exchange::HOME);
  plan::Reduce* fold = Add(&plan, "fold()")->mutable_reduce();
  fold->set_function(plan::Reduce::FOLD);
  fold->set_stage(plan::FINAL);
  Add(&plan, "sink")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(&plan, "sink")->mutable_sink();
  return plan;
}

// Many that take what there is from each other: charges are refused wherever, while rows still
// leave the parts that fail.
TEST(EngineTest, WhatWasRefusedIsNotGivenBack) {
  const auto graph = FanGraph(500, 12);
  EngineOptions options = Workers(4);
  options.process_memory_bytes = 12 << 20;
  options.query_memory_bytes = 6 << 20;
  const auto engine = Engine::Create(options);
  int refused = 0;
  for (uint64_t round = 0; round < TestRounds(12, 2); ++round) {
    std::vector<std::shared_ptr<WaitingSink>> sinks;
    for (int i = 0; i < 6; ++i) {
      sinks.push_back(std::make_shared<WaitingSink>());
      engine->Submit(FoldOfPaths(), graph, {}, sinks.back());
    }
    for (const auto& sink : sinks) {
      const StatusCode code = sink->Wait().status.code();
      EXPECT_TRUE(code == StatusCode::kOk || code == StatusCode::kResourceExhausted);
      refused += code == StatusCode::kResourceExhausted;
      sink->ForgetKept();
    }
    ASSERT_EQ(UsedInTheEnd(*engine), 0);
  }
  EXPECT_GT(refused, 0);
}

// A request that changes the graph holds its results until the commit.
TEST(EngineTest, ResultsThatAreHeldStayCharged) {
  const auto graph = FanGraph(200, 8);
  const auto engine = Engine::Create(Workers(1));
  QueryOptions options;
  options.memory_limit_bytes = TestRounds(8, 2) << 20;
  for (const bool keeps : {false, true}) {
    auto sink = std::make_shared<WaitingSink>(1'000'000);
    if (keeps) sink->Keep();
    engine->Submit(Hops(TestRounds(5, 4), false), graph, options, sink);
    const Status status = sink->Wait().status;
    ASSERT_EQ(status.code(), keeps ? StatusCode::kResourceExhausted : StatusCode::kOk) << status;
    EXPECT_EQ(engine->memory().used() > 0, keeps);
    sink->ForgetKept();
    EXPECT_EQ(engine->memory().used(), 0);
    EXPECT_EQ(keeps ? DetailOf(status)->setting : "query-memory-mb", "query-memory-mb");
  }
}

TEST(EngineTest, ProfileCountsAllWorkers) {
  const auto graph = FanGraph(100, 3);
  const auto engine = Engine::Create(Workers(4));
  auto sink = std::make_shared<WaitingSink>();
  QueryOptions options;
  options.profile = true;
  engine->Submit(Hops(2, true), graph, options, sink);
  const QueryResult result = sink->Wait();
  ASSERT_EQ(result.operators.size(), 11u);
  EXPECT_EQ(result.operators[2].rows_out, 100u);
  EXPECT_EQ(result.operators[4].rows_out, 300u);
  EXPECT_EQ(result.operators[6].rows_out, 900u);
}

// V().map(out().fold()): a row per instance, and none of them travels alone.
TEST(EngineTest, RowsOfManyInstancesShareBatches) {
  const auto graph = FanGraph(100, 3);
  const auto engine = Engine::Create({});
  plan::Plan plan = Hops(0, false);
  plan.mutable_operators()->DeleteSubrange(3, 2);
  plan.mutable_operators(2)->clear_next();
  Add(&plan, "map()")->mutable_scope_enter();
  Add(&plan, "out()")->mutable_expand();
  plan::Reduce* fold = Add(&plan, "fold()")->mutable_reduce();
  fold->set_function(plan::Reduce::FOLD);
  for (int body : {4, 5}) plan.mutable_operators(body)->set_scope(4);
  Add(&plan, "map()")->mutable_exchange()->set_key(plan::Exchange::HOME);
  plan.mutable_operators(6)->set_scope(4);
  plan::ScopeExit* exit = Add(&plan, "map()")->mutable_scope_exit();
  exit->set_enter(3);
  exit->set_policy(plan::ScopeExit::FIRST);
  Add(&plan, "sink")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(&plan, "sink")->mutable_sink();
  auto sink = std::make_shared<WaitingSink>();
  QueryOptions options;
  options.profile = true;
  engine->Submit(plan, graph, options, sink);
  const QueryResult result = sink->Wait();
  ASSERT_TRUE(result.status.ok()) << MessageOf(result.status);
  EXPECT_EQ(sink->rows(), 100);
  EXPECT_EQ(sink->last().AsList().size(), 3u);
  EXPECT_EQ(result.operators[2].batches, 1u);   // of all partitions
  EXPECT_LE(result.operators[7].batches, 50u);  // as many as it takes in time
  EXPECT_EQ(result.operators[9].rows_in, 100u);
}

// 20^6 walks from each of 50 vertices, but never more than 50 different rows.
TEST(EngineTest, MergedRowsAreAsManyAsTheVertices) {
  const auto graph = FanGraph(50, 20);
  const auto engine = Engine::Create(Workers(1));
  auto sink = std::make_shared<WaitingSink>();
  engine->Submit(Hops(6, true, 1000), graph, {}, sink);
  const QueryResult result = sink->Wait();
  EXPECT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(sink->last().AsInteger(), int64_t{50} * 64'000'000);
  uint64_t expanded = 0;
  for (int hop = 0; hop < 6; ++hop) {
    const size_t merge = 4 + 3 * static_cast<size_t>(hop);
    EXPECT_EQ(result.operators[merge].rows_out, 50u) << "hop " << hop;
    expanded += result.operators[merge + 1].rows_out;
  }
  EXPECT_EQ(expanded, 6u * 50 * 20);
}

// On several workers a worker may be idle, and flush, before the others are through.
TEST(EngineTest, MergedRowsOnManyWorkers) {
  const auto graph = FanGraph(50, 20);
  for (const uint32_t capacity : {1u, 7u, 1000u}) {
    const auto engine = Engine::Create(Workers(4));
    auto sink = std::make_shared<WaitingSink>();
    engine->Submit(Hops(4, true, capacity), graph, {}, sink);
    EXPECT_TRUE(sink->Wait().status.ok());
    EXPECT_EQ(sink->last().AsInteger(), 50 * 160'000) << "capacity " << capacity;
    EXPECT_EQ(UsedInTheEnd(*engine), 0);
  }
}

// Where there is room for a word for each vertex a level is kept whole, whatever the capacity says.
TEST(EngineTest, ALevelOfManyVerticesIsKeptWhole) {
  const auto graph = FanGraph(20'000, 5);
  for (const uint32_t workers : {1u, 3u}) {
    const auto engine = Engine::Create(Workers(workers));
    auto sink = std::make_shared<WaitingSink>();
    engine->Submit(Hops(4, true, 2000), graph, {}, sink);
    const QueryResult result = sink->Wait();
    ASSERT_TRUE(result.status.ok()) << result.status;
    EXPECT_EQ(sink->last().AsInteger(), 20'000 * 625);
    EXPECT_EQ(UsedInTheEnd(*engine), 0);
    for (const OperatorStats& one : result.operators) {
      EXPECT_GE(one.slices, one.batches > 0 ? 1u : 0u);
      EXPECT_LE(one.slices, one.batches);
      EXPECT_LE(one.slices, result.numbers.slices);
    }
    EXPECT_GT(result.numbers.slices, 100u);
    if (workers > 1) continue;
    for (const size_t merge : {4, 7, 10, 13}) {
      EXPECT_EQ(result.operators[merge].rows_out, 20'000u);
      EXPECT_LT(result.operators[merge].peak_bytes, 600u << 10);
    }
  }
}

TEST(EngineTest, MergedRowsAreBoundedAndCharged) {
  const auto graph = FanGraph(20'000, 3);
  const auto engine = Engine::Create(Workers(1));
  QueryOptions options;
  options.memory_limit_bytes = 1 << 20;
  auto small = std::make_shared<WaitingSink>();
  engine->Submit(Hops(2, true, 1000), graph, options, small);
  const QueryResult bounded = small->Wait();
  EXPECT_TRUE(bounded.status.ok()) << bounded.status;
  EXPECT_LT(bounded.operators[4].peak_bytes, 300u << 10);
  auto large = std::make_shared<WaitingSink>();
  engine->Submit(Hops(2, true, 100'000), graph, options, large);
  const QueryResult result = large->Wait();
  EXPECT_EQ(result.status.code(), StatusCode::kResourceExhausted);
  ASSERT_TRUE(DetailOf(result.status).has_value());
  EXPECT_EQ(DetailOf(result.status)->step, "out()");
}

TEST(EngineTest, MoreThanALongCanCountIsAnError) {
  const auto graph = FanGraph(4, 4);
  const auto engine = Engine::Create(Workers(1));
  auto sink = std::make_shared<WaitingSink>();
  engine->Submit(Hops(40, true, 100), graph, {}, sink);  // 4 * 4^40 walks
  const Status status = sink->Wait().status;
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status;
}

// Rows are equal when all slots are: of the same type, absent, or not there at all.
TEST(EngineTest, OnlyEqualRowsMerge) {
  plan::Plan plan;
  plan.set_num_slots(2);
  plan::Inject* inject = Add(&plan, "inject()")->mutable_inject();
  const std::vector<Value> values = {Value::Int(1),      Value::Long(1), Value::Int(1),
                                     Value::String("a"), Value::Null(),  Value::Long(1)};
  for (const Value& value : values) inject->add_values(EncodeValue(value));
  Add(&plan, "merge")->mutable_merge()->set_capacity(10);
  plan::Project* copy = Add(&plan, "as()")->mutable_project();
  copy->mutable_expr()->add_nodes()->set_slot(0);
  copy->set_slot(1);
  plan::Project* same = Add(&plan, "constant()")->mutable_project();
  same->mutable_expr()->add_nodes()->set_constant(EncodeValue(Value::Int(7)));
  Add(&plan, "merge")->mutable_merge()->set_capacity(10);
  plan::Operator* select = Add(&plan, "select()");
  select->mutable_project()->mutable_expr()->add_nodes()->set_slot(1);
  select->add_drop_slots(1);
  plan::Operator* again = Add(&plan, "constant()");
  again->mutable_project()->mutable_expr()->add_nodes()->set_constant(EncodeValue(Value::Int(7)));
  Add(&plan, "merge")->mutable_merge()->set_capacity(10);
  Add(&plan, "sink")->mutable_sink();
  const auto engine = Engine::Create(Workers(1));
  auto sink = std::make_shared<WaitingSink>();
  engine->Submit(plan, FanGraph(1, 1), {}, sink);
  const QueryResult result = sink->Wait();
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.operators[1].rows_out, 4u);
  EXPECT_EQ(result.operators[4].rows_out, 4u);
  EXPECT_EQ(result.operators[7].rows_out, 1u);
  EXPECT_EQ(result.operators[7].bulk_out, 6u);
  EXPECT_EQ(sink->rows(), 6);
}

}  // namespace
}  // namespace koios::engine
