// Queries that begin on the thread that submits them: over by then, or handed to a worker in the
// middle of what they do.
#include "engine/sched/first_turn.h"

#include "core/mutex.h"
#include "engine/engine.h"
#include "gtest/gtest.h"
#include "storage/memory_graph.h"

namespace koios::engine {
namespace {

class Sink : public ResultSink {
 public:
  explicit Sink(size_t room = 1'000'000) : room_(room) {}
  size_t Room() override {
    MutexLock lock(&mutex_);
    return room_;
  }
  void Push(ResultBatch batch) override {
    MutexLock lock(&mutex_);
    --room_;
    for (size_t row = 0; row < batch.column.size(); ++row) {
      rows_ += batch.bulk.empty() ? 1 : batch.bulk[row];
      last_ = batch.column.Get(row);
    }
  }
  void Done(QueryResult result) override {
    MutexLock lock(&mutex_);
    EXPECT_FALSE(done_);
    result_ = std::move(result);
    done_ = true;
    changed_.NotifyAll();
  }
  void Open() {
    MutexLock lock(&mutex_);
    room_ = 1'000'000;
  }
  bool done() {
    MutexLock lock(&mutex_);
    return done_;
  }
  QueryResult Wait() {
    MutexLock lock(&mutex_);
    while (!done_) changed_.Wait(&mutex_);
    return result_;
  }
  int64_t rows() {
    MutexLock lock(&mutex_);
    return rows_;
  }
  Value last() {
    MutexLock lock(&mutex_);
    return last_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  size_t room_;
  int64_t rows_ = 0;
  Value last_;
  bool done_ = false;
  QueryResult result_;
};

// Every vertex leads to `fan` others.
std::shared_ptr<const storage::MemoryGraph> FanGraph(int vertices, int fan) {
  auto graph = std::make_shared<storage::MemoryGraph>();
  std::vector<VertexRef> refs;
  for (int i = 0; i < vertices; ++i) refs.push_back(*graph->AddVertex(Value::Long(i), "v"));
  for (int i = 0; i < vertices; ++i) {
    for (int j = 1; j <= fan; ++j) {
      CHECK(graph->AddEdge(refs[i], refs[(i * fan + j) % vertices], "e").ok());
    }
  }
  return graph;
}

plan::Operator* Add(plan::Plan* plan) {
  const uint32_t id = static_cast<uint32_t>(plan->operators_size());
  if (id > 0) plan->mutable_operators(static_cast<int>(id) - 1)->add_next(id);
  plan::Operator* op = plan->add_operators();
  op->set_id(id);
  return op;
}

// V().out()...out().count(), or the rows.
plan::Plan Hops(int hops, bool count) {
  plan::Plan plan;
  plan.set_num_slots(1);
  Add(&plan)->mutable_partitions();
  Add(&plan)->mutable_exchange()->set_key(plan::Exchange::PARTITION);
  Add(&plan)->mutable_scan();
  for (int i = 0; i < hops; ++i) {
    Add(&plan)->mutable_exchange()->set_key(plan::Exchange::OWNER);
    Add(&plan)->mutable_expand();
  }
  if (count) Add(&plan)->mutable_reduce()->set_stage(plan::PARTIAL);
  Add(&plan)->mutable_exchange()->set_key(plan::Exchange::HOME);
  if (count) Add(&plan)->mutable_reduce();
  Add(&plan)->mutable_sink();
  return plan;
}

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
    auto sink = std::make_shared<Sink>();
    const auto handle = engine->Submit(Hops(1, true), graph, BeginsHere(), sink);
    ASSERT_TRUE(sink->done());
    EXPECT_TRUE(sink->Wait().status.ok());
    EXPECT_EQ(sink->last().AsInteger(), 20);
    EXPECT_EQ(sink->Wait().rows, 1u);
    EXPECT_EQ(engine->memory().used(), 0);
    handle->Cancel(Cancelled("too late"));
    handle->Resume();
    EXPECT_EQ(handle->memory_bytes(), 0u);
  }
}

TEST(FirstTurnTest, AProfileNeedsNoWorkerThatTookNoPart) {
  const auto engine = EngineOf(3, 10'000);
  auto sink = std::make_shared<Sink>();
  QueryOptions options = BeginsHere();
  options.profile = true;
  engine->Submit(Hops(1, true), FanGraph(10, 2), options, sink);
  ASSERT_TRUE(sink->done());
  EXPECT_EQ(sink->Wait().operators[2].rows_out, 10u);
}

TEST(FirstTurnTest, ALongQueryGoesOnAtItsWorker) {
  const auto graph = FanGraph(200, 8);
  for (const uint32_t workers : {1, 2, 3}) {
    for (const uint64_t spread : {0, 100, 10'000}) {
      const auto engine = EngineOf(workers, spread, /*slices=*/3);
      std::vector<std::shared_ptr<Sink>> sinks;
      for (int i = 0; i < 6; ++i) {
        sinks.push_back(std::make_shared<Sink>());
        engine->Submit(Hops(3, i % 2 == 0), graph, BeginsHere(), sinks.back());
      }
      for (int i = 0; i < 6; ++i) {
        EXPECT_TRUE(sinks[i]->Wait().status.ok());
        const int64_t paths = i % 2 == 0 ? sinks[i]->last().AsInteger() : sinks[i]->rows();
        EXPECT_EQ(paths, 200 * 512);
      }
    }
  }
}

TEST(FirstTurnTest, AClosedWindowPausesItAndACancelEndsIt) {
  const auto graph = FanGraph(200, 8);
  const auto engine = EngineOf(2, 10'000);
  auto read = std::make_shared<Sink>(1);
  const auto reading = engine->Submit(Hops(3, false), graph, BeginsHere(), read);
  EXPECT_FALSE(read->done());
  read->Open();
  reading->Resume();
  EXPECT_TRUE(read->Wait().status.ok());
  EXPECT_EQ(read->rows(), 200 * 512);

  auto unread = std::make_shared<Sink>(1);
  const auto handle = engine->Submit(Hops(3, false), graph, BeginsHere(), unread);
  handle->Cancel(Cancelled("by the test"));
  EXPECT_EQ(unread->Wait().status.code(), StatusCode::kCancelled);
}

TEST(FirstTurnTest, DeadlinesAndMemoryEndIt) {
  const auto graph = FanGraph(200, 8);
  const auto engine = EngineOf(2, 10'000);
  auto late = std::make_shared<Sink>();
  QueryOptions options = BeginsHere();
  options.deadline_ns = 1;
  engine->Submit(Hops(1, true), graph, options, late);
  EXPECT_EQ(late->Wait().status.code(), StatusCode::kDeadlineExceeded);

  auto large = std::make_shared<Sink>();
  options = BeginsHere();
  options.memory_limit_bytes = 100;
  engine->Submit(Hops(2, true), graph, options, large);
  ASSERT_TRUE(large->done());
  EXPECT_EQ(large->Wait().status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(engine->memory().used(), 0);

  auto endless = std::make_shared<Sink>();
  options = BeginsHere();
  options.deadline_ns = static_cast<uint64_t>(engine->clock().NowNanos()) + 20'000'000;
  engine->Submit(Hops(14, true), graph, options, endless);
  EXPECT_EQ(endless->Wait().status.code(), StatusCode::kDeadlineExceeded);
}

TEST(FirstTurnTest, AnInvalidPlanIsRefused) {
  const auto engine = EngineOf(2, 10'000);
  plan::Plan plan = Hops(1, true);
  plan.mutable_operators(3)->clear_next();
  auto sink = std::make_shared<Sink>();
  engine->Submit(plan, FanGraph(3, 1), BeginsHere(), sink);
  ASSERT_TRUE(sink->done());
  EXPECT_EQ(sink->Wait().status.code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace koios::engine
