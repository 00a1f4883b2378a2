// Work that takes long is done in slices: a deadline that passes, or a cancel that comes, ends the
// query in the middle of it. One worker whose clock and turns the test decides.
#include "engine/sched/worker.h"

#include "core/value_codec.h"
#include "gtest/gtest.h"
#include "storage/memory_graph.h"

namespace koios::engine {
namespace {

class NoTransport : public Transport {
 public:
  void Send(uint32_t, Frame) override {}
};

class CountingSink : public ResultSink {
 public:
  size_t Room() override { return 1; }
  void Push(ResultBatch batch) override { rows += batch.column.size(); }
  void Done(QueryResult r) override { result = std::move(r); }

  size_t rows = 0;
  std::optional<QueryResult> result;
};

constexpr uint32_t kOperator = 2;
constexpr uint64_t kDeadline = 1000;

// One query on a worker of its own.
class Running {
 public:
  explicit Running(plan::Plan plan) {
    WorkerContext context;
    context.transport = &transport_;
    context.clock = &clock_;
    worker_ = std::make_unique<Worker>(context);
    auto spec = std::make_shared<QuerySpec>();
    spec->plan = std::move(plan);
    spec->view = std::make_shared<storage::MemoryGraph>();
    spec->options.deadline_ns = kDeadline;
    spec->account = account_;
    spec->sink = sink_;
    Frame start;
    start.kind = FrameKind::kStart;
    start.spec = std::move(spec);
    worker_->Deliver(std::move(start));
  }

  // How often the worker can be called before the query is over, at most `most` times.
  int Turns(int most = INT_MAX) {
    int turns = 0;
    while (turns < most && !sink_->result.has_value() && worker_->Step(1)) ++turns;
    return turns;
  }
  void PassDeadline() { worker_->Step(kDeadline); }
  void Cancel() {
    Frame frame;
    frame.kind = FrameKind::kCancel;
    frame.status = Cancelled("by the test");
    worker_->Deliver(std::move(frame));
  }
  const CountingSink& sink() const { return *sink_; }
  int64_t charged() const { return account_->used(); }

 private:
  ManualClock clock_;
  NoTransport transport_;
  std::shared_ptr<MemoryAccount> account_ = std::make_shared<MemoryAccount>("query");
  std::shared_ptr<CountingSink> sink_ = std::make_shared<CountingSink>();
  std::unique_ptr<Worker> worker_;
};

plan::Operator* Add(plan::Plan* plan, const char* step) {
  const uint32_t id = static_cast<uint32_t>(plan->operators_size());
  if (id > 0) plan->mutable_operators(static_cast<int>(id) - 1)->add_next(id);
  plan::Operator* op = plan->add_operators();
  op->set_id(id);
  op->set_step(step);
  return op;
}

// inject(values), a step at home (kOperator), and its results.
plan::Plan PlanOf(const std::vector<Value>& values, const plan::Operator& step) {
  plan::Plan plan;
  plan.set_num_slots(1);
  plan::Inject* inject = Add(&plan, "inject()")->mutable_inject();
  for (const Value& value : values) inject->add_values(EncodeValue(value));
  Add(&plan, "step")->mutable_exchange()->set_key(plan::Exchange::HOME);
  plan::Operator* op = Add(&plan, "step");
  const uint32_t id = op->id();
  op->MergeFrom(step);
  op->set_id(id);
  Add(&plan, "sink")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(&plan, "sink")->mutable_sink();
  return plan;
}

std::vector<Value> Shuffled(int64_t count) {
  std::vector<Value> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(Value::Long(i * 7919 % count));
  return values;
}

// The step comes to its end in many turns, and is ended by the clock and by a cancel in the middle.
void ExpectStoppable(const plan::Plan& plan, size_t rows) {
  Running whole(plan);
  const int turns = whole.Turns();
  ASSERT_TRUE(whole.sink().result.has_value());
  EXPECT_TRUE(whole.sink().result->status.ok()) << whole.sink().result->status;
  EXPECT_EQ(whole.sink().rows, rows);
  EXPECT_GT(whole.sink().result->operators[kOperator].batches, 400u);
  for (const bool cancel : {false, true}) {
    Running stopped(plan);
    EXPECT_EQ(stopped.Turns(turns / 2), turns / 2);
    EXPECT_EQ(stopped.sink().rows, 0u);  // in the middle of the step
    EXPECT_FALSE(stopped.sink().result.has_value());
    cancel ? stopped.Cancel() : stopped.PassDeadline();
    ASSERT_TRUE(stopped.sink().result.has_value());
    EXPECT_EQ(stopped.sink().result->status.code(),
              cancel ? StatusCode::kCancelled : StatusCode::kDeadlineExceeded);
    EXPECT_EQ(stopped.charged(), 0);
  }
}

TEST(WorkerTest, ABigSortCanBeStopped) {
  plan::Operator order;
  order.mutable_order();
  ExpectStoppable(PlanOf(Shuffled(100'000), order), 100'000);
}

TEST(WorkerTest, ABigTopKCanBeStopped) {
  plan::Operator order;
  order.mutable_order()->set_limit(40'000);
  ExpectStoppable(PlanOf(Shuffled(100'000), order), 40'000);
}

TEST(WorkerTest, ABigSampleCanBeStopped) {
  plan::Operator sample;
  sample.mutable_sample()->set_count(100);
  plan::Plan plan = PlanOf(Shuffled(1'000'000), sample);
  ExpectStoppable(plan, 100);
}

}  // namespace
}  // namespace koios::engine
