// One worker whose clock, turns and frames the test decides. Work that takes long is done in
// slices: a deadline that passes, or a cancel that comes, ends the query in the middle of it. Rows
// that do not fit the plan end it with an error.
#include "engine/sched/worker.h"

#include <functional>

#include "core/testing/make_value.h"
#include "engine/testing/worker_queries.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

constexpr uint64_t kDeadline = 1000;

// One query on a worker of its own.
class Running {
 public:
  explicit Running(plan::Plan plan, uint32_t num_workers = 1)
      : query_(std::move(plan), sink_, account_, num_workers, kDeadline) {}

  // Rows from another worker, behind the exchange `op`, that nobody has made sense of yet.
  void Receive(uint32_t op, std::vector<Column> slots, FrameCredit credit = {}) {
    Frame frame;
    frame.credit = credit;
    frame.is_decoded = true;
    frame.from = 1;
    frame.op = op;
    frame.batch.rows = 2;
    frame.batch.runs.push_back({{}, {}, 2, 3});
    frame.batch.slots = std::move(slots);
    query_.worker().Deliver(std::move(frame));
  }

  // A word about the lane behind the exchange `op`.
  void ReceiveWord(FrameKind kind, uint32_t op, Loops loops = {}, uint32_t from = 1) {
    Frame frame;
    frame.kind = kind;
    frame.from = from;
    frame.op = op;
    frame.loops = std::move(loops);
    query_.worker().Deliver(std::move(frame));
  }

  void ReceiveSorted(uint32_t op, uint64_t rows) {
    Frame frame;
    frame.kind = FrameKind::kSorted;
    frame.from = 1;
    frame.op = op;
    frame.sorted_rows = rows;
    query_.worker().Deliver(std::move(frame));
  }

  // How often the worker can be called before the query is over, at most `most` times.
  int Turns(int most = INT_MAX) {
    return query_.TurnsUntil(most, [] { return false; });
  }
  void PassDeadline() { query_.worker().Step(kDeadline); }
  void Cancel() {
    Frame frame;
    frame.kind = FrameKind::kCancel;
    frame.status = Cancelled("by the test");
    query_.worker().Deliver(std::move(frame));
  }
  const CountingSink& sink() const { return *sink_; }
  int64_t charged() const { return account_->used(); }

 private:
  std::shared_ptr<MemoryAccount> account_ = std::make_shared<MemoryAccount>("query");
  std::shared_ptr<CountingSink> sink_ = std::make_shared<CountingSink>();
  RunningQuery query_;
};

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
    if (!cancel) {
      const auto detail = DetailOf(stopped.sink().result->status);
      ASSERT_TRUE(detail.has_value());
      EXPECT_EQ(detail->reason, "DEADLINE");
      EXPECT_EQ(detail->setting, "query-timeout");
    }
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

// V().union(out(), both()).order().local(limit(1)).count(): of every exchange, and of operators
// that read slots.
plan::Plan WidePlan() {
  plan::Plan plan;
  plan.set_num_slots(3);
  testing::AddScan(&plan);
  Add(&plan, "out()")->mutable_exchange()->set_key(plan::Exchange::OWNER);
  Add(&plan, "out()")->mutable_expand();
  Add(&plan, "values()")->mutable_exchange()->set_key(plan::Exchange::OWNER);
  Add(&plan, "values()")->mutable_fetch();
  Add(&plan, "dedup()")->mutable_exchange()->set_key(plan::Exchange::HASH);
  Add(&plan, "dedup()")->mutable_dedup();
  Add(&plan, "V(id)")->mutable_exchange()->set_key(plan::Exchange::ID);
  Add(&plan, "V(id)")->mutable_lookup();
  Add(&plan, "order()")->mutable_exchange()->set_key(plan::Exchange::HOME);
  plan::Operator* order = Add(&plan, "order()");
  order->mutable_order();
  order->set_ordinal_slot(1);
  const uint32_t enter = static_cast<uint32_t>(plan.operators_size());
  Add(&plan, "local()")->mutable_scope_enter();
  const auto in_scope = [&](plan::Operator* op) {
    op->set_scope(enter + 1);
    return op;
  };
  in_scope(Add(&plan, "unfold()"))->mutable_unfold();
  in_scope(Add(&plan, "local()"))->mutable_exchange()->set_key(plan::Exchange::HOME);
  plan::Operator* exit = Add(&plan, "local()");
  exit->mutable_scope_exit()->set_enter(enter);
  exit->mutable_scope_exit()->set_policy(plan::ScopeExit::ALL);
  exit->set_ordinal_slot(1);
  Add(&plan, "sample()")->mutable_exchange()->set_key(plan::Exchange::HOME);
  plan::Operator* sample = Add(&plan, "sample()");
  sample->mutable_sample()->set_count(1);
  sample->mutable_sample()->set_weight_slot(2);
  Add(&plan, "sum()")->mutable_reduce()->set_stage(plan::PARTIAL);
  Add(&plan, "sum()")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(&plan, "sum()")->mutable_reduce();
  Add(&plan, "sink")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(&plan, "sink")->mutable_sink();
  return plan;
}

Column TwoOf(const Value& value) {
  Column column;
  column.Append(value);
  column.Append(value);
  return column;
}

// Two rows of each kind of column; elements that the graph can't have; and no rows.
std::vector<Column> AllColumns() {
  const VertexRef far = VertexRef::Make(1000, 7);
  Column mixed = TwoOf(Value::Int(1));
  mixed.Clear();
  mixed.Append(Value::Int(1));
  mixed.Append(ListOf({Value::Of(far)}));
  return {Column(),
          TwoOf(Value::Bool(true)),
          TwoOf(Value::Int(70'000)),
          TwoOf(Value::Long(-1)),
          TwoOf(Value::Double(0.5)),
          TwoOf(Value::String("x")),
          TwoOf(Value::Of(VertexRef::Make(0, 12345))),
          TwoOf(Value::Of(far)),
          TwoOf(Value::Of(EdgeRef{far.bits, far, far, 99})),
          mixed};
}

// Whatever comes in a frame's columns, the worker ends the query or goes on; it does not fall over.
TEST(WorkerTest, RowsThatDoNotFitThePlanAreNoCrash) {
  const plan::Plan plan = WidePlan();
  int failed = 0;
  for (int op = 0; op < plan.operators_size(); ++op) {
    if (!plan.operators(op).has_exchange()) continue;
    for (const Column& current : AllColumns()) {
      for (const Column& second : AllColumns()) {
        Running running(plan, 2);
        running.Receive(static_cast<uint32_t>(op), {current, second, second});
        running.Turns(100);
        const bool over = running.sink().result.has_value();
        EXPECT_TRUE(!over || !running.sink().result->status.ok());
        failed += over ? 1 : 0;
      }
    }
  }
  EXPECT_GT(failed, 300);
}

TEST(WorkerTest, WhatAnOperatorReadsMustBeThere) {
  const auto status = [](uint32_t op, std::vector<Column> slots) {
    Running running(WidePlan(), 2);
    running.Receive(op, std::move(slots));
    running.Turns(100);
    return running.sink().result.has_value() ? running.sink().result->status.code()
                                             : StatusCode::kOk;
  };
  const Column ones = TwoOf(Value::Int(1));
  const Column far = TwoOf(Value::Of(VertexRef::Make(1000, 7)));
  EXPECT_EQ(status(1, {}), StatusCode::kDataLoss);  // scan
  EXPECT_EQ(status(1, {TwoOf(Value::Int(1000))}), StatusCode::kDataLoss);
  EXPECT_EQ(status(3, {Column(), ones}), StatusCode::kDataLoss);  // expand
  EXPECT_EQ(status(3, {far}), StatusCode::kDataLoss);
  EXPECT_EQ(status(3, {TwoOf(ListOf({far.Get(0)}))}), StatusCode::kDataLoss);
  EXPECT_EQ(status(17, {ones}), StatusCode::kDataLoss);            // sample
  EXPECT_EQ(status(22, {Column(), ones}), StatusCode::kDataLoss);  // sink
}

// What another worker says of credit that it does not have, or we never asked for, ends the query
// with an error; nothing stays charged.
TEST(WorkerTest, CreditThatCantBeIsNoCrash) {
  const auto code = [](const std::function<void(Running*)>& say) {
    Running running(WidePlan(), 2);
    say(&running);
    running.Turns(100);
    EXPECT_TRUE(running.sink().result.has_value());
    EXPECT_EQ(running.charged(), 0);
    return running.sink().result.has_value() ? running.sink().result->status.code()
                                             : StatusCode::kOk;
  };
  constexpr uint32_t kExchange = 5;
  const auto word = [&](FrameKind kind, uint32_t op, Loops loops, uint32_t from) {
    return code([&](Running* running) { running->ReceiveWord(kind, op, std::move(loops), from); });
  };
  // Not sent, not asked for, not granted: of a lane of the plan or of another one.
  for (const FrameKind kind : {FrameKind::kAck, FrameKind::kGrant, FrameKind::kReturn}) {
    EXPECT_EQ(word(kind, kExchange, {}, 1), StatusCode::kDataLoss);
    EXPECT_EQ(word(kind, kExchange, {1, 2, 3, 4, 5}, 1), StatusCode::kDataLoss);
    EXPECT_EQ(word(kind, kExchange, {}, 0), StatusCode::kDataLoss);
  }
  for (const FrameKind kind :
       {FrameKind::kAck, FrameKind::kAsk, FrameKind::kGrant, FrameKind::kReturn}) {
    EXPECT_EQ(word(kind, 0, {}, 1), StatusCode::kDataLoss);  // no exchange
    EXPECT_EQ(word(kind, 9999, {}, 1), StatusCode::kDataLoss);
    EXPECT_EQ(word(kind, kExchange, {}, 2), StatusCode::kDataLoss);  // no such worker
  }
  // Twice for a lane whose slot is in use.
  EXPECT_EQ(code([&](Running* running) {
              for (int i = 0; i < 3; ++i) running->ReceiveWord(FrameKind::kAsk, kExchange);
            }),
            StatusCode::kDataLoss);
  // Rows by a grant that nobody gave, and more of them than the allotment.
  const Column ones = TwoOf(Value::Int(1));
  for (const FrameCredit credit :
       {FrameCredit{8, true}, FrameCredit{uint64_t{1} << 40, false}, FrameCredit{~0ull, false}}) {
    EXPECT_EQ(code([&](Running* running) { running->Receive(kExchange, {ones}, credit); }),
              StatusCode::kDataLoss);
  }
  // By the grant of another lane, and twice by the same.
  EXPECT_EQ(code([&](Running* running) {
              running->ReceiveWord(FrameKind::kAsk, kExchange);
              running->Receive(kExchange + 2, {ones, ones, ones}, {8, true});
            }),
            StatusCode::kDataLoss);
  EXPECT_EQ(code([&](Running* running) {
              running->ReceiveWord(FrameKind::kAsk, kExchange);
              for (int i = 0; i < 2; ++i) running->Receive(kExchange, {ones}, {8, true});
            }),
            StatusCode::kDataLoss);
}

// inject(1, 2).order(), sorted at workers and merged at home; or half of that.
plan::Plan SortedPlan(bool spread, bool merged) {
  plan::Plan plan;
  plan.set_num_slots(1);
  plan::Inject* inject = Add(&plan, "inject()")->mutable_inject();
  for (const int value : {1, 2}) inject->add_values(EncodeValue(Value::Int(value)));
  plan::Operator* order = Add(&plan, "order()");
  order->mutable_order()->set_stage(plan::FINAL);
  order->set_spread(spread);
  Add(&plan, "order()")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(&plan, "order()")->mutable_order()->set_stage(merged ? plan::MERGED : plan::FINAL);
  Add(&plan, "sink")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(&plan, "sink")->mutable_sink();
  return plan;
}

TEST(WorkerTest, SortedRowsThatNobodyWaitsForAreNoCrash) {
  Running rows(SortedPlan(true, true), 2);
  rows.Receive(2, {TwoOf(Value::Int(1))});
  ASSERT_TRUE(rows.sink().result.has_value());
  EXPECT_EQ(rows.sink().result->status.code(), StatusCode::kDataLoss);
  EXPECT_EQ(rows.charged(), 0);
  for (const uint32_t op : {0u, 1u, 3u, 99u}) {
    Running words(SortedPlan(true, true), 2);
    words.ReceiveSorted(op, 2);
    ASSERT_TRUE(words.sink().result.has_value()) << op;
    EXPECT_EQ(words.sink().result->status.code(), StatusCode::kDataLoss) << op;
  }
  for (const bool spread : {false, true}) {
    Running half(SortedPlan(spread, !spread), 2);
    ASSERT_TRUE(half.sink().result.has_value());
    EXPECT_EQ(half.sink().result->status.code(), StatusCode::kInternal);
  }
  Running whole(SortedPlan(true, true), 1);
  whole.Turns(1000);
  ASSERT_TRUE(whole.sink().result.has_value());
  EXPECT_TRUE(whole.sink().result->status.ok()) << MessageOf(whole.sink().result->status);
  EXPECT_EQ(whole.sink().rows, 2u);
}

}  // namespace
}  // namespace koios::engine
