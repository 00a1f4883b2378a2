// What is coming out of a barrier goes to disk where nobody takes it, and comes from there in the
// same order.
#include "engine/op/operator.h"

#include <algorithm>
#include <functional>
#include <string>

#include "core/random.h"
#include "engine/op/collect_ops.h"
#include "engine/op/group_op.h"
#include "engine/op/op_test_support.h"
#include "engine/op/waiting_ops.h"

namespace koios::engine {
namespace {

constexpr int kRowsGiven = 40'000, kRowsOfInput = 1000;

using MakeGiver = std::function<OperatorBundle(OperatorHost*)>;

void AbsorbRows(BarrierOperator* barrier) {
  Rng rng(3);
  for (int begin = 0; begin < kRowsGiven; begin += kRowsOfInput) {
    ValueList values, keys;
    std::vector<int64_t> bulk;
    for (int i = 0; i < kRowsOfInput; ++i) {
      values.push_back(
          Value::String("a text of some length " + std::to_string(rng.Uniform(kRowsGiven))));
      keys.push_back(Value::Long(static_cast<int64_t>(rng.Uniform(kRowsGiven / 4))));
      bulk.push_back(1 + static_cast<int64_t>(rng.Uniform(3)));
    }
    ASSERT_TRUE(AbsorbAll(barrier, Rows(values, keys, bulk)).ok());
  }
}

// With `rests`, what is left behind some batches goes to disk.
GivenRows RowsGiven(const MakeGiver& make, bool rests) {
  TestHost host;
  const OperatorBundle bundle = make(&host);
  BarrierOperator* const barrier = bundle.barrier.get();
  AbsorbRows(barrier);
  GivenRows given;
  int batches = 0;
  for (bool done = false; !done;) {
    Batch output;
    EXPECT_TRUE(barrier->Fire({}, &output, &done).ok());
    AppendGiven(output, &given);
    if (output.rows == 0 || ++batches != 3 || !rests) continue;
    EXPECT_FALSE(done);
    const int64_t before = host.charged;
    EXPECT_GT(barrier->GivingBytes(), before / 4);
    while (barrier->GivingBytes() > 0 || barrier->SpillableBytes() > 0) {
      for (bool all = false; !all;) {
        const StatusOr<bool> spilled = barrier->Spill();
        EXPECT_TRUE(spilled.ok()) << spilled.status();
        if (!spilled.ok()) return given;
        all = *spilled;
      }
    }
    EXPECT_GT(host.space.used(), 0u);
    EXPECT_LT(host.charged, before / 8);
  }
  barrier->Release({});
  EXPECT_EQ(host.charged, 0);
  EXPECT_EQ(host.space.used(), 0u);
  return given;
}

TEST(GivingTest, WhatIsLeftComesFromDiskInItsOrder) {
  const MakeGiver makes[] = {
      [](OperatorHost* host) { return MakeOrder(OrderBySecond(0), 2, host).value(); },
      [](OperatorHost* host) { return MakeOrder(OrderBySecond(kRowsGiven / 2), 2, host).value(); },
      [](OperatorHost* host) {
        plan::Tail tail;
        tail.set_count(kRowsGiven + 1);
        return MakeTail(tail, host);
      },
      [](OperatorHost* host) { return MakeBarrier(host); },
      [](OperatorHost* host) { return MakeMergingBarrier(2, host); },
      [](OperatorHost* host) { return MakeWaitingDedup({0}, 2, host); },
  };
  for (size_t i = 0; i < std::size(makes); ++i) {
    SCOPED_TRACE(i);
    const GivenRows expected = RowsGiven(makes[i], /*rests=*/false);
    EXPECT_GT(expected.size(), static_cast<size_t>(kRowsGiven / 4));
    EXPECT_EQ(RowsGiven(makes[i], /*rests=*/true), expected);
  }
}

// Of groups the order is another one.
TEST(GivingTest, GroupsThatAreLeftComeFromDisk) {
  for (const plan::Group::Value value :
       {plan::Group::COUNT, plan::Group::LIST, plan::Group::LAST, plan::Group::MAX}) {
    SCOPED_TRACE(value);
    const MakeGiver make = [value](OperatorHost* host) {
      plan::Group group;
      group.set_value(value);
      group.set_rows(true);
      group.set_key_slot(1);
      group.set_value_slot(0);
      return MakeGroup(group, 2, host).value();
    };
    GivenRows expected = RowsGiven(make, /*rests=*/false);
    GivenRows given = RowsGiven(make, /*rests=*/true);
    EXPECT_GT(expected.size(), 5000u);
    std::sort(expected.begin(), expected.end());
    std::sort(given.begin(), given.end());
    EXPECT_EQ(given, expected);
  }
}

// Fires until three batches have come out.
void BeginToGive(BarrierOperator* barrier) {
  bool done = false;
  for (int batches = 0; batches < 3;) {
    Batch output;
    ASSERT_TRUE(barrier->Fire({}, &output, &done).ok());
    batches += output.rows > 0 ? 1 : 0;
  }
  ASSERT_FALSE(done);
}

// Keys that are not worth it don't keep the rows from going.
TEST(GivingTest, RowsGoWhereKeysStay) {
  TestHost host;
  const OperatorBundle bundle = MakeWaitingDedup({0}, 2, &host);
  AbsorbRows(bundle.barrier.get());
  BeginToGive(bundle.barrier.get());
  const int64_t rows = bundle.barrier->GivingBytes();
  ASSERT_LT(bundle.barrier->SpillableBytes(), rows);
  ASSERT_GT(bundle.barrier->SpillableBytes(), 0);
  host.least = rows;
  for (int call = 0; call < 10'000 && bundle.barrier->GivingBytes() > 0; ++call) {
    ASSERT_TRUE(bundle.barrier->Spill().ok());
  }
  EXPECT_EQ(bundle.barrier->GivingBytes(), 0);
  bundle.barrier->Release({});
  EXPECT_EQ(host.charged, 0);
}

// What would be larger on disk stays.
TEST(GivingTest, RowsThatShareAValueStay) {
  const Value list = *Value::List(ValueList(3000, Value::Long(1)));
  TestHost host;
  const OperatorBundle bundle = MakeBarrier(&host);
  ASSERT_TRUE(AbsorbAll(bundle.barrier.get(), Rows(ValueList(10'000, list))).ok());
  BeginToGive(bundle.barrier.get());
  EXPECT_GT(bundle.barrier->GivingBytes(), 0);
  for (bool all = false; !all;) all = *bundle.barrier->Spill();
  EXPECT_EQ(bundle.barrier->GivingBytes(), 0);
  EXPECT_EQ(host.space.used(), 0u);
  EXPECT_GT(FireAll(bundle.barrier.get()).rows, 5000u);
  EXPECT_EQ(host.charged, 0);
}

// An instance that is over while its rows go to disk leaves nothing.
TEST(GivingTest, WhatIsOverOnItsWayLeavesNothing) {
  TestHost host;
  const OperatorBundle bundle = MakeOrder(OrderBySecond(0), 2, &host).value();
  AbsorbRows(bundle.barrier.get());
  BeginToGive(bundle.barrier.get());
  while (host.space.used() == 0) ASSERT_FALSE(*bundle.barrier->Spill());
  bundle.barrier->Release({});
  EXPECT_TRUE(*bundle.barrier->Spill());
  EXPECT_EQ(host.charged, 0);
  EXPECT_EQ(host.space.used(), 0u);
}

}  // namespace
}  // namespace koios::engine
