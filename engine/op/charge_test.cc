// Every state charges before it allocates, keeps nothing when refused, and gives everything back.
#include "core/big_number.h"
#include "engine/account/charge_ahead.h"
#include "engine/op/collect_ops.h"
#include "engine/op/filter_state_ops.h"
#include "engine/op/group_op.h"
#include "engine/op/op_test_support.h"
#include "engine/op/reduce_op.h"
#include "engine/op/waiting_ops.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

constexpr int64_t kMemory = 1 << 20;

plan::Reduce Fold() {
  plan::Reduce op;
  op.set_function(plan::Reduce::FOLD);
  op.set_stage(plan::FINAL);
  return op;
}

plan::Group ListGroup() {
  plan::Group op;
  op.set_key_slot(0);
  op.set_value_slot(1);
  op.set_value(plan::Group::LIST);
  return op;
}

// Each would take gigabytes: a test that allocates them does not come to its end.
TEST(ChargeTest, ABulkTooLargeIsRefusedBeforeAListGrows) {
  for (const int64_t bulk : {int64_t{1'000'000'000'000}, INT64_MAX}) {
    TestHost host;
    host.limit = kMemory;
    const auto fold = MakeReduce(Fold(), &host);
    ASSERT_TRUE(fold.ok());
    EXPECT_EQ(AbsorbAll(fold->barrier.get(), Rows({Value::Int(1)}, {}, {bulk})).code(),
              StatusCode::kResourceExhausted);
    // Behind one that is there, so that the two are more than a long can count.
    EXPECT_TRUE(AbsorbAll(fold->barrier.get(), Rows({Value::Int(1)})).ok());
    EXPECT_EQ(AbsorbAll(fold->barrier.get(), Rows({Value::Int(1)}, {}, {bulk})).code(),
              StatusCode::kResourceExhausted);
    const auto group = MakeGroup(ListGroup(), 2, &host);
    ASSERT_TRUE(group.ok());
    EXPECT_EQ(
        AbsorbAll(group->barrier.get(), Rows({Value::Int(1)}, {Value::Int(2)}, {bulk})).code(),
        StatusCode::kResourceExhausted);
    fold->barrier->Release({});
    group->barrier->Release({});
    EXPECT_EQ(host.charged, 0);
  }
}

// The largest value, and a sum of numbers that have no end, are charged as what they have become:
// at the whole, at a worker's share, and of each group.
void ExpectCharged(bool is_sum, const Value& small, const Value& large, const Value& over) {
  const auto bytes = static_cast<int64_t>(large.ByteSize() * 9 / 10);
  TestHost host;
  plan::Reduce reduce;
  reduce.set_function(is_sum ? plan::Reduce::SUM : plan::Reduce::MAX);
  reduce.set_stage(plan::WHOLE);
  plan::Group group = ListGroup();
  group.set_value(is_sum ? plan::Group::SUM : plan::Group::MAX);
  const OperatorBundle whole = *MakeReduce(reduce, &host), groups = *MakeGroup(group, 2, &host);
  const auto add = [&](const Value& value) {
    const int64_t before = host.charged;
    EXPECT_TRUE(AbsorbAll(whole.barrier.get(), Rows({value})).ok());
    const int64_t by_whole = host.charged - before;
    EXPECT_TRUE(AbsorbAll(groups.barrier.get(), Rows({Value::Int(1)}, {value})).ok());
    return std::pair(by_whole, host.charged - before - by_whole);
  };
  add(small);
  const auto [by_whole, by_group] = add(large);
  EXPECT_GE(by_whole, bytes);
  EXPECT_GE(by_group, bytes);
  const auto [of_whole, of_group] = add(over);  // what is no more is not charged
  EXPECT_LT(of_whole, -bytes);
  EXPECT_LT(of_group, -bytes);
  host.limit = host.charged + bytes / 2;
  EXPECT_EQ(AbsorbAll(groups.barrier.get(), Rows({Value::Int(1)}, {large})).code(),
            is_sum ? StatusCode::kResourceExhausted : StatusCode::kOk);
  whole.barrier->Release({});
  groups.barrier->Release({});
  EXPECT_EQ(host.charged, 0);

  reduce.set_stage(plan::PARTIAL);
  const OperatorBundle share = *MakeReduce(reduce, &host);
  std::vector<engine::Run> returned;
  ASSERT_TRUE(share.partial->Absorb(Rows({small}), &returned).ok());
  const size_t before = share.partial->HeldBytes();
  ASSERT_TRUE(share.partial->Absorb(Rows({large}), &returned).ok());
  EXPECT_GE(share.partial->HeldBytes(), before + static_cast<size_t>(bytes));
  Batch out;
  ASSERT_TRUE(share.partial->Flush({}, &out, &returned).ok());
  EXPECT_LE(share.partial->HeldBytes(), before);
}

TEST(ChargeTest, ExtremesAndSumsAreCharged) {
  ExpectCharged(false, Value::String("a"), Value::String(std::string(100'000, 'b')),
                Value::String("c"));
  const std::string digits(kMaxBigNumberDigits - 10, '9');
  ExpectCharged(true, Value::Int(1), Value::Of(BigNumber::ParseInteger(digits).value()),
                Value::Of(BigNumber::ParseInteger("-" + digits).value()));
}

TEST(ChargeTest, WhatIsRefusedIsNotKept) {
  plan::Order order;
  plan::Tail tail;
  tail.set_count(10);
  TestHost host;
  const std::vector<Value> values(500, Value::String(std::string(200, 'x')));
  OperatorBundle ops[] = {*MakeOrder(order, 2, &host), MakeTail(tail, &host), MakeBarrier(&host)};
  for (OperatorBundle& op : ops) {
    host.limit = 1000;
    EXPECT_EQ(op.barrier->Absorb(Rows(values)).code(), StatusCode::kResourceExhausted);
    host.limit = kMemory;
    Batch out;
    bool done = false;
    ASSERT_TRUE(op.barrier->Fire({}, &out, &done).ok());
    EXPECT_EQ(out.rows, 0u);
    EXPECT_EQ(host.charged, 0);
  }
}

TEST(ChargeTest, SortingIsChargedToo) {
  TestHost host;
  host.spills = false;
  const OperatorBundle order = *MakeOrder(plan::Order(), 2, &host);
  ASSERT_TRUE(order.barrier->Absorb(Rows(std::vector<Value>(500, Value::Int(1)))).ok());
  host.limit = host.charged + 500;
  Batch out;
  bool done = false;
  EXPECT_EQ(order.barrier->Fire({}, &out, &done).code(), StatusCode::kResourceExhausted);
  order.barrier->Release({});
  EXPECT_EQ(host.charged, 0);
}

TEST(ChargeTest, DedupChargesWhatIsNewAndGivesItBack) {
  TestHost host;
  const auto dedup = MakeDedup(plan::Dedup(), 1, &host);
  ASSERT_TRUE(dedup.ok());
  const Batch rows = Rows({Value::Int(1), Value::String("a"), Value::Int(1)});
  OpOutput output;
  bool done = false;
  ASSERT_TRUE(dedup->stream->Process(rows, &output, &done).ok());
  const int64_t charged = host.charged;
  EXPECT_GT(charged, 0);
  OpOutput again;
  ASSERT_TRUE(dedup->stream->Process(rows, &again, &done).ok());
  EXPECT_EQ(again.rows(rows), 0u);
  EXPECT_EQ(host.charged, charged);
  dedup->stream->Release({});
  EXPECT_EQ(host.charged, 0);
}

OperatorBundle LimitOfOne(TestHost* host) {
  plan::Limit op;
  op.set_high(1);
  return *MakeLimit(op, host);
}

TEST(ChargeTest, ALimitGivesBackWhatItsInstancesTook) {
  TestHost host;
  const OperatorBundle limit = LimitOfOne(&host);
  OpOutput output;
  bool done = false;
  ASSERT_TRUE(limit.stream->Process(Rows({Value::Int(1)}, {}, {}, {7}), &output, &done).ok());
  EXPECT_GT(limit.stream->HeldBytes(), 0u);
  limit.stream->Release({});
  EXPECT_EQ(limit.stream->HeldBytes(), 0u);
}

// What was refused was not taken, and is not given back.
TEST(ChargeTest, WhatWasRefusedIsNotGivenBack) {
  TestHost host;
  host.limit = 8;
  const Batch rows = Rows({Value::Int(1), Value::Int(2)}, {}, {}, {7});
  const OperatorBundle barrier = MakeMergingBarrier(2, &host);
  EXPECT_FALSE(AbsorbAll(barrier.barrier.get(), rows).ok());
  barrier.barrier->Release({});
  EXPECT_EQ(host.charged, 0);
}

TEST(ChargeTest, AskedAheadButNeverPastTheLimit) {
  TestHost host;
  host.limit = 100;
  int64_t bytes = 0;
  {
    ChargeAhead charge(&host, &bytes);
    EXPECT_TRUE(charge.Take(60).ok());
    EXPECT_FALSE(charge.Take(60).ok());
    EXPECT_TRUE(charge.Take(40).ok());
    EXPECT_FALSE(charge.Take(1).ok());
    charge.Return(30);
  }
  EXPECT_EQ(bytes, 70);
  EXPECT_EQ(host.charged, 70);
}

}  // namespace
}  // namespace koios::engine
