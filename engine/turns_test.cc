// Which operator of a query has its turn on a worker. In a loop that nothing ends the first
// iteration goes on all the same, however many operators the body has (engine rule 20). While there
// is memory, few rows wait for more.
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

std::shared_ptr<MemoryAccount> AccountOf64MiB() {
  return std::make_shared<MemoryAccount>("query", int64_t{64} << 20);
}

TEST(TurnsTest, TheFirstIterationGoesOn) {
  for (int filters = 0; filters < 16; ++filters) {
    auto sink = std::make_shared<SeenSink>();
    RunningQuery running(Endless(filters), sink, AccountOf64MiB());
    running.TurnsUntil(40, [&] { return sink->seen_last; });  // of 8 calls each
    EXPECT_TRUE(sink->seen_last) << filters << " operators in the body";
    running.worker().CancelAll(Cancelled("by the test"));
  }
}

// inject(100,000 values).filter(one in a hundred passes).filter(all pass), limited or not.
plan::Plan Selective(bool limited) {
  plan::Plan plan;
  plan.set_num_slots(1);
  plan::Inject* inject = Add(&plan, "inject()")->mutable_inject();
  for (const Value& value : Shuffled(100'000)) inject->add_values(EncodeValue(value));
  plan::Expr* few = Add(&plan, "is()")->mutable_filter()->mutable_predicate();
  few->add_nodes()->set_slot(0);
  few->add_nodes()->set_constant(EncodeValue(Value::Long(1000)));
  plan::Expr::Call* less = few->add_nodes()->mutable_call();
  less->set_function("lt");
  less->add_args(0);
  less->add_args(1);
  plan::Expr* all = Add(&plan, "filter()")->mutable_filter()->mutable_predicate();
  all->add_nodes()->set_constant(EncodeValue(Value::Bool(true)));
  if (limited) Add(&plan, "limit()")->mutable_limit()->set_high(900);
  Add(&plan, "sink")->mutable_sink();
  return plan;
}

// How often what stands behind the selective filter was called.
uint64_t CallsBehind(bool limited, int64_t used) {
  auto sink = std::make_shared<CountingSink>();
  const auto account = AccountOf64MiB();
  EXPECT_TRUE(account->TryCharge(used));
  RunningQuery running(Selective(limited), sink, account);
  running.TurnsUntil(10'000, [] { return false; });
  EXPECT_TRUE(sink->result.has_value() && sink->result->status.ok());
  EXPECT_EQ(sink->rows, limited ? 900u : 1000u);
  return sink->result.has_value() ? sink->result->operators[2].batches : 0;
}

TEST(TurnsTest, FewRowsWaitForMoreWhileThereIsMemory) {
  EXPECT_LT(CallsBehind(/*limited=*/false, /*used=*/0), 25u);
  EXPECT_GT(CallsBehind(/*limited=*/false, /*used=*/20 << 20), 90u);
  // The first may be enough.
  EXPECT_GT(CallsBehind(/*limited=*/true, /*used=*/0), 80u);
}

}  // namespace
}  // namespace koios::engine
