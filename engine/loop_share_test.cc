// A loop that nothing ends: its first iteration goes on all the same, however many operators its
// body has (engine rule 20).
#include "core/value_codec.h"
#include "engine/sched/worker.h"
#include "engine/testing/worker_queries.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

constexpr int64_t kRows = 5000;

class SeenSink final : public CountingSink {
 public:
  void Push(ResultBatch batch) override {
    for (size_t row = 0; row < batch.column.size(); ++row) {
      seen_last = seen_last || batch.column.Get(row).AsInteger() == kRows - 1;
    }
  }
  bool seen_last = false;
};

// inject(0, ..., 4999).emit().repeat(filters that let all pass)
plan::Plan Endless(int filters) {
  plan::Plan plan;
  plan.set_num_slots(1);
  plan::Inject* inject = Add(&plan, "inject()")->mutable_inject();
  for (int64_t i = 0; i < kRows; ++i) inject->add_values(EncodeValue(Value::Long(i)));
  const uint32_t enter = static_cast<uint32_t>(plan.operators_size());
  Add(&plan, "repeat()")->mutable_loop_enter();
  for (int i = 0; i < filters; ++i) {
    plan::Expr* test = Add(&plan, "filter()")->mutable_filter()->mutable_predicate();
    test->add_nodes()->set_constant(EncodeValue(Value::Bool(true)));
  }
  plan::Operator* split = Add(&plan, "emit()");
  split->mutable_split()->set_copy(true);
  plan::Operator* back = Add(&plan, "repeat()");
  back->mutable_loop_back()->set_enter(enter);
  for (uint32_t body = enter + 1; body <= back->id(); ++body) {
    plan.mutable_operators(static_cast<int>(body))->set_loop(enter + 1);
  }
  plan::Operator* exit = Add(&plan, "repeat()");
  exit->mutable_loop_exit()->set_enter(enter);
  plan.mutable_operators(static_cast<int>(exit->id() - 1))->set_next(0, enter + 1);
  plan.mutable_operators(static_cast<int>(exit->id() - 2))->add_next(exit->id());
  Add(&plan, "sink")->mutable_sink();
  return plan;
}

TEST(LoopShareTest, TheFirstIterationGoesOn) {
  for (int filters = 0; filters < 16; ++filters) {
    ManualClock clock;
    NoTransport transport;
    WorkerContext context;
    context.transport = &transport;
    context.clock = &clock;
    Worker worker(context);
    auto sink = std::make_shared<SeenSink>();
    auto spec = std::make_shared<QuerySpec>();
    spec->plan = Endless(filters);
    spec->view = std::make_shared<storage::MemoryGraph>();
    spec->account = std::make_shared<MemoryAccount>("query");
    spec->sink = sink;
    Frame start;
    start.kind = FrameKind::kStart;
    start.spec = std::move(spec);
    worker.Deliver(std::move(start));
    // Of 8 calls each: one of them brings 5 batches through the body.
    constexpr int kMost = 40;
    int turns = 0;
    while (turns < kMost && !sink->seen_last && worker.Step(1)) ++turns;
    EXPECT_TRUE(sink->seen_last) << filters << " operators in the body";
    worker.CancelAll(Cancelled("by the test"));
  }
}

}  // namespace
}  // namespace koios::engine
