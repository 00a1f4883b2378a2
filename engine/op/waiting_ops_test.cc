// What waits in a loop, by itself: distinct keys over iterations, merged rows, what they charge.
#include "engine/op/waiting_ops.h"

#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

std::vector<Value> NumberList(int64_t count, int64_t distinct) {
  std::vector<Value> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(Value::Long(i % distinct));
  return values;
}

size_t RowsOf(BarrierOperator* barrier, const Loops& loops) {
  size_t rows = 0;
  for (bool done = false; !done;) {
    Batch batch;
    EXPECT_TRUE(barrier->Fire({{}, loops}, &batch, &done).ok());
    rows += batch.rows;
  }
  return rows;
}

TEST(WaitingDedupTest, KeepsTheFirstRowOfEachKey) {
  TestHost host;
  const OperatorBundle bundle = MakeWaitingDedup({0}, &host);
  ASSERT_TRUE(
      bundle.barrier->Absorb(Rows(NumberList(3, 2), NumberList(3, 3), {5, 1, 1}, {0})).ok());
  Batch out;
  bool done = false;
  while (!done) ASSERT_TRUE(bundle.barrier->Fire({{}, {0}}, &out, &done).ok());
  ASSERT_EQ(out.rows, 2u);
  EXPECT_EQ(out.BulkAt(0), 1);
  EXPECT_EQ(out.slots[1].Get(0).AsInteger(), 0);
  EXPECT_EQ(out.slots[1].Get(1).AsInteger(), 1);
}

// The set spans the iterations; one that waits holds nothing that an earlier one lets pass.
TEST(WaitingDedupTest, WhatHasPassedPassesNoMore) {
  TestHost host;
  const OperatorBundle bundle = MakeWaitingDedup({0}, &host);
  ASSERT_TRUE(bundle.barrier->Absorb(Rows(NumberList(10, 10), {}, {}, {0})).ok());
  // Came before the first iteration has fired: as in nested loops.
  ASSERT_TRUE(bundle.barrier->Absorb(Rows(NumberList(12, 12), {}, {}, {1})).ok());
  EXPECT_EQ(RowsOf(bundle.barrier.get(), {0}), 10u);
  EXPECT_EQ(RowsOf(bundle.barrier.get(), {1}), 2u);
  ASSERT_TRUE(bundle.barrier->Absorb(Rows(NumberList(12, 12), {}, {}, {2})).ok());
  EXPECT_EQ(RowsOf(bundle.barrier.get(), {2}), 0u);
}

TEST(WaitingDedupTest, ChargesDistinctRowsOnly) {
  TestHost host;
  const OperatorBundle bundle = MakeWaitingDedup({0}, &host);
  ASSERT_TRUE(bundle.barrier->Absorb(Rows(NumberList(1000, 10), {}, {}, {0})).ok());
  const int64_t once = host.charged;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(bundle.barrier->Absorb(Rows(NumberList(1000, 10), {}, {}, {0})).ok());
  }
  EXPECT_EQ(host.charged, once);
  bundle.barrier->Release({});
  EXPECT_EQ(host.charged, 0);
}

TEST(WaitingDedupTest, RefusesWhatIsTooMuch) {
  TestHost host;
  host.limit = 10'000;
  const OperatorBundle bundle = MakeWaitingDedup({0}, &host);
  Status status;
  for (int64_t i = 0; i < 100 && status.ok(); ++i) {
    status =
        bundle.barrier->Absorb(Rows({NumberList(1000 * (i + 1), 1000 * (i + 1))}, {}, {}, {0}));
  }
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  bundle.barrier->Release({});
  EXPECT_EQ(host.charged, 0);
}

TEST(MergingBarrierTest, EqualRowsBecomeOneAndKeepTheirBulk) {
  TestHost host;
  const OperatorBundle bundle = MakeMergingBarrier(&host);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(bundle.barrier->Absorb(Rows(NumberList(1000, 4), {}, {}, {3})).ok());
  }
  const int64_t charged = host.charged;
  EXPECT_LT(charged, 10'000);
  Batch out;
  bool done = false;
  while (!done) ASSERT_TRUE(bundle.barrier->Fire({{}, {3}}, &out, &done).ok());
  ASSERT_EQ(out.rows, 4u);
  for (size_t row = 0; row < 4; ++row) EXPECT_EQ(out.BulkAt(row), 25'000);
  EXPECT_EQ(host.charged, 0);
}

TEST(MergingBarrierTest, IterationsAreApartAndMayNeverFire) {
  TestHost host;
  const OperatorBundle bundle = MakeMergingBarrier(&host);
  ASSERT_TRUE(bundle.barrier->Absorb(Rows(NumberList(5, 5), {}, {}, {0})).ok());
  ASSERT_TRUE(bundle.barrier->Absorb(Rows(NumberList(5, 1), {}, {}, {1})).ok());
  EXPECT_EQ(RowsOf(bundle.barrier.get(), {1}), 1u);
  EXPECT_EQ(RowsOf(bundle.barrier.get(), {7}), 0u);
  bundle.barrier->Release({});
  EXPECT_EQ(host.charged, 0);
}

}  // namespace
}  // namespace koios::engine
