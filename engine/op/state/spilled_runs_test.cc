// Barriers whose rows go to disk give what they would give from memory.
#include "engine/op/state/spilled_runs.h"

#include <algorithm>

#include "core/random.h"
#include "core/value_codec.h"
#include "engine/op/collect_ops.h"
#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

using Given = std::vector<std::string>;  // rows: current value, second slot, bulk

void SpillAll(BarrierOperator* op) {
  while (op->SpillableBytes() > 0) ASSERT_TRUE(op->Spill().ok());
}

Given FireAll(BarrierOperator* op) {
  Given rows;
  for (bool done = false; !done;) {
    Batch out;
    const Status fired = op->Fire({}, &out, &done);
    EXPECT_TRUE(fired.ok()) << MessageOf(fired);
    if (!fired.ok()) return rows;
    EXPECT_LE(out.slots.size(), 2u);
    for (size_t row = 0; row < out.rows; ++row) {
      rows.push_back(EncodeValue(out.slots[0].Get(row)) + " " +
                     (out.Has(1) ? EncodeValue(out.slots[1].Get(row)) : "") + " " +
                     std::to_string(out.BulkAt(row)));
    }
  }
  return rows;
}

plan::Order BySecond(int64_t limit) {
  plan::Order order;
  order.add_keys()->set_slot(1);
  order.set_limit(limit);
  return order;
}

// So many batches that runs are merged in two passes; every other one lacks the second slot.
void AbsorbAndSpill(BarrierOperator* op, bool spills, size_t batches) {
  Rng rng(5);
  int64_t number = 0;
  for (size_t b = 0; b < batches; ++b) {
    std::vector<Value> current, second;
    std::vector<int64_t> bulk;
    for (uint64_t i = 1 + rng.Uniform(6); i > 0; --i) {
      current.push_back(Value::Long(number++));
      second.push_back(rng.Uniform(3) == 0 ? Value::String("k" + std::to_string(rng.Uniform(9)))
                                           : Value::Int(static_cast<int32_t>(rng.Uniform(9))));
      bulk.push_back(static_cast<int64_t>(1 + rng.Uniform(3)));
    }
    ASSERT_TRUE(
        op->Absorb(b % 7 == 3 ? Rows(current, {}, bulk) : Rows(current, second, bulk)).ok());
    if (spills && b % 5 != 4) SpillAll(op);
  }
}

TEST(SpilledRunsTest, AnOrderFromDiskIsThatFromMemory) {
  for (const int64_t limit : {0, 1, 100, 5000}) {
    TestHost plain_host, host;
    const OperatorBundle plain = *MakeOrder(BySecond(limit), 2, &plain_host);
    const OperatorBundle spilled = *MakeOrder(BySecond(limit), 2, &host);
    AbsorbAndSpill(plain.barrier.get(), false, 400);
    AbsorbAndSpill(spilled.barrier.get(), true, 400);
    EXPECT_GT(host.space.used(), 0u);
    const Given expected = FireAll(plain.barrier.get());
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(FireAll(spilled.barrier.get()), expected) << "limit " << limit;
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

TEST(SpilledRunsTest, ABarrierGivesRowsInTheOrderOfArrival) {
  TestHost plain_host, host;
  const OperatorBundle plain = MakeBarrier(&plain_host), spilled = MakeBarrier(&host);
  AbsorbAndSpill(plain.barrier.get(), false, 200);
  AbsorbAndSpill(spilled.barrier.get(), true, 200);
  EXPECT_EQ(FireAll(spilled.barrier.get()), FireAll(plain.barrier.get()));
  EXPECT_EQ(host.charged, 0);
  EXPECT_EQ(host.space.used(), 0u);
}

TEST(SpilledRunsTest, WhatIsReleasedInTheMiddleLeavesNothing) {
  for (int calls = 0; calls < 12; ++calls) {
    TestHost host;
    const OperatorBundle order = *MakeOrder(BySecond(0), 2, &host);
    AbsorbAndSpill(order.barrier.get(), true, 99);
    ASSERT_TRUE(order.barrier->Absorb(Rows({Value::Int(1)}, {Value::Int(2)})).ok());
    bool done = false;
    for (int i = 0; i < calls; ++i) {
      Batch out;
      const bool spills = calls % 2 == 0 && order.barrier->SpillableBytes() > 0;
      ASSERT_TRUE(spills ? order.barrier->Spill().ok() : order.barrier->Fire({}, &out, &done).ok());
    }
    order.barrier->Release({});
    EXPECT_EQ(host.charged, 0) << calls;
    EXPECT_EQ(host.space.used(), 0u) << calls;
  }
}

TEST(SpilledRunsTest, AFullDiskIsAnErrorAndLeavesNothing) {
  for (uint64_t k = 1; k < 40; ++k) {
    TestHost host;
    host.space.FailFromWrite(k);
    const OperatorBundle order = *MakeOrder(BySecond(0), 2, &host);
    Status status;
    for (int b = 0; b < 50 && status.ok(); ++b) {
      ASSERT_TRUE(order.barrier->Absorb(Rows({Value::Int(b)}, {Value::Int(-b)})).ok());
      while (status.ok() && order.barrier->SpillableBytes() > 0) {
        status = order.barrier->Spill().status();
      }
    }
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
    EXPECT_EQ(DetailOf(status)->setting, "spill-dir");
    order.barrier->Release({});
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

}  // namespace
}  // namespace koios::engine
