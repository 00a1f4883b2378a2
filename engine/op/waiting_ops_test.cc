// What waits in a loop, by itself: distinct keys over iterations, merged rows, what they charge.
#include "engine/op/waiting_ops.h"

#include <map>

#include "core/random.h"
#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

std::vector<Value> NumberList(int64_t count, int64_t distinct) {
  std::vector<Value> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(Value::Long(i % distinct));
  return values;
}

size_t RowsFiredBy(BarrierOperator* barrier, const Loops& loops) {
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
  const OperatorBundle bundle = MakeWaitingDedup({0}, 2, &host);
  ASSERT_TRUE(
      AbsorbAll(bundle.barrier.get(), Rows(NumberList(3, 2), NumberList(3, 3), {5, 1, 1}, {0}))
          .ok());
  Batch out;
  bool done = false;
  while (!done) ASSERT_TRUE(bundle.barrier->Fire({{}, {0}}, &out, &done).ok());
  ASSERT_EQ(out.rows, 2u);
  EXPECT_EQ(out.BulkAt(0), 1);
  EXPECT_EQ(out.slots[1].Get(0).AsInteger(), 0);
  EXPECT_EQ(out.slots[1].Get(1).AsInteger(), 1);
}

// Iterations of drawn keys, some of which come before the one before has fired. What can goes to
// disk after each so many batches; 0: never. The second slots of the rows, as they came out.
Status FireDrawn(uint64_t seed, uint64_t spill_every, BarrierOperator* barrier,
                 std::vector<int64_t>* given) {
  Rng rng(seed);
  int64_t number = 0;
  uint64_t batches = 0;
  const auto spill = [&] {
    while (barrier->SpillableBytes() > 0) RETURN_IF_ERROR(barrier->Spill().status());
    return OkStatus();
  };
  for (uint16_t iteration = 0; iteration < 12; ++iteration) {
    for (int b = 0; b < 12; ++b) {
      const uint16_t of = iteration + (b % 3 == 0 ? 1 : 0);
      std::vector<Value> keys, numbers;
      for (uint64_t i = 1 + rng.Uniform(60); i > 0; --i) {
        keys.push_back(Value::Long(static_cast<int64_t>(rng.Uniform(300u * (iteration + 1u)))));
        numbers.push_back(Value::Long(number++));
      }
      RETURN_IF_ERROR(AbsorbAll(barrier, Rows(keys, numbers, {}, {of})));
      if (spill_every > 0 && ++batches % spill_every == 0) RETURN_IF_ERROR(spill());
    }
    for (bool done = false; !done;) {
      Batch out;
      RETURN_IF_ERROR(barrier->Fire({{}, {iteration}}, &out, &done));
      for (size_t row = 0; row < out.rows; ++row) {
        given->push_back(out.slots[1].Get(row).AsInteger());
      }
      if (spill_every > 0) RETURN_IF_ERROR(spill());
    }
  }
  return OkStatus();
}

StatusOr<std::vector<int64_t>> FireDrawn(uint64_t seed, uint64_t spill_every, TestHost* host) {
  const OperatorBundle bundle = MakeWaitingDedup({0}, 2, host);
  std::vector<int64_t> given;
  const Status status = FireDrawn(seed, spill_every, bundle.barrier.get(), &given);
  bundle.barrier->Release({});
  RETURN_IF_ERROR(status);
  return given;
}

TEST(WaitingDedupTest, FromDiskTheSameRowsPassAsFromMemory) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    TestHost plain, host;
    const std::vector<int64_t> expected = *FireDrawn(seed, 0, &plain);
    EXPECT_GT(expected.size(), 1000u);
    const StatusOr<std::vector<int64_t>> given = FireDrawn(seed, 1 + seed % 4, &host);
    ASSERT_TRUE(given.ok()) << MessageOf(given.status());
    EXPECT_EQ(*given, expected) << "seed " << seed;
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

TEST(WaitingDedupTest, AFullDiskEndsIt) {
  size_t failed = 0;
  for (uint64_t write = 1; write < 300; write = write * 3 / 2 + 1) {
    TestHost host;
    host.space.FailFromWrite(write);
    const StatusOr<std::vector<int64_t>> given = FireDrawn(1, 3, &host);
    failed += WentWell(given.status(), host) ? 0 : 1;
  }
  EXPECT_GT(failed, 3u);
}

TEST(WaitingDedupTest, ARunOfWhichNothingWaitsPutsNothingOnDisk) {
  TestHost host;
  const OperatorBundle bundle = MakeWaitingDedup({0}, 2, &host);
  BarrierOperator* barrier = bundle.barrier.get();
  ASSERT_TRUE(AbsorbAll(barrier, Rows(NumberList(3, 3), {}, {}, {0})).ok());
  EXPECT_EQ(RowsFiredBy(barrier, {0}), 3u);
  Batch batch = Rows(NumberList(6, 6), {}, {}, {1});
  batch.runs = {{{}, {1}, 3, 0}, {{}, {2}, 3, 0}};  // of the first one all have passed
  ASSERT_TRUE(AbsorbAll(barrier, batch).ok());
  while (barrier->SpillableBytes() > 0) ASSERT_TRUE(barrier->Spill().ok());
  EXPECT_EQ(RowsFiredBy(barrier, {1}), 0u);
  EXPECT_EQ(RowsFiredBy(barrier, {2}), 3u);
  barrier->Release({});
  EXPECT_EQ(host.charged, 0);
  EXPECT_EQ(host.space.used(), 0u);
}

// The set spans the iterations; one that waits holds nothing that an earlier one lets pass.
TEST(WaitingDedupTest, WhatHasPassedPassesNoMore) {
  TestHost host;
  const OperatorBundle bundle = MakeWaitingDedup({0}, 2, &host);
  ASSERT_TRUE(AbsorbAll(bundle.barrier.get(), Rows(NumberList(10, 10), {}, {}, {0})).ok());
  // Came before the first iteration has fired: as in nested loops.
  ASSERT_TRUE(AbsorbAll(bundle.barrier.get(), Rows(NumberList(12, 12), {}, {}, {1})).ok());
  EXPECT_EQ(RowsFiredBy(bundle.barrier.get(), {0}), 10u);
  EXPECT_EQ(RowsFiredBy(bundle.barrier.get(), {1}), 2u);
  ASSERT_TRUE(AbsorbAll(bundle.barrier.get(), Rows(NumberList(12, 12), {}, {}, {2})).ok());
  EXPECT_EQ(RowsFiredBy(bundle.barrier.get(), {2}), 0u);
}

TEST(WaitingDedupTest, ChargesDistinctRowsOnly) {
  TestHost host;
  const OperatorBundle bundle = MakeWaitingDedup({0}, 2, &host);
  ASSERT_TRUE(AbsorbAll(bundle.barrier.get(), Rows(NumberList(1000, 10), {}, {}, {0})).ok());
  const int64_t once = host.charged;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(AbsorbAll(bundle.barrier.get(), Rows(NumberList(1000, 10), {}, {}, {0})).ok());
  }
  EXPECT_EQ(host.charged, once);
  bundle.barrier->Release({});
  EXPECT_EQ(host.charged, 0);
}

TEST(WaitingDedupTest, RefusesWhatIsTooMuch) {
  TestHost host;
  host.limit = 10'000;
  const OperatorBundle bundle = MakeWaitingDedup({0}, 2, &host);
  Status status;
  for (int64_t i = 0; i < 100 && status.ok(); ++i) {
    status = AbsorbAll(bundle.barrier.get(),
                       Rows({NumberList(1000 * (i + 1), 1000 * (i + 1))}, {}, {}, {0}));
  }
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  bundle.barrier->Release({});
  EXPECT_EQ(host.charged, 0);
}

TEST(MergingBarrierTest, EqualRowsBecomeOneAndKeepTheirBulk) {
  TestHost host;
  const OperatorBundle bundle = MakeMergingBarrier(2, &host);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(AbsorbAll(bundle.barrier.get(), Rows(NumberList(1000, 4), {}, {}, {3})).ok());
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
  const OperatorBundle bundle = MakeMergingBarrier(2, &host);
  ASSERT_TRUE(AbsorbAll(bundle.barrier.get(), Rows(NumberList(5, 5), {}, {}, {0})).ok());
  ASSERT_TRUE(AbsorbAll(bundle.barrier.get(), Rows(NumberList(5, 1), {}, {}, {1})).ok());
  EXPECT_EQ(RowsFiredBy(bundle.barrier.get(), {1}), 1u);
  EXPECT_EQ(RowsFiredBy(bundle.barrier.get(), {7}), 0u);
  bundle.barrier->Release({});
  EXPECT_EQ(host.charged, 0);
}

TEST(MergingBarrierTest, FromDiskBulksAddUpToThoseFromMemory) {
  for (const uint64_t full_from : {0, 1, 2, 5}) {
    TestHost host;
    if (full_from > 0) host.space.FailFromWrite(full_from);
    const OperatorBundle bundle = MakeMergingBarrier(2, &host);
    BarrierOperator* barrier = bundle.barrier.get();
    Rng rng(3);
    std::map<int64_t, int64_t> expected, given;
    Status status;
    for (int b = 0; b < 40 && status.ok(); ++b) {
      std::vector<Value> values;
      for (uint64_t i = rng.Uniform(200); i > 0; --i) {
        values.push_back(Value::Long(static_cast<int64_t>(rng.Uniform(500))));
        ++expected[values.back().AsInteger()];
      }
      ASSERT_TRUE(AbsorbAll(barrier, Rows(values, {}, {}, {0})).ok());
      while (b % 7 == 6 && status.ok() && barrier->SpillableBytes() > 0) {
        status = barrier->Spill().status();
      }
    }
    for (bool done = false; status.ok() && !done;) {
      Batch out;
      status = barrier->Fire({{}, {0}}, &out, &done);
      for (size_t row = 0; row < out.rows; ++row) {
        given[out.slots[0].Get(row).AsInteger()] += out.BulkAt(row);
      }
    }
    EXPECT_EQ(status.ok(), full_from == 0);
    if (full_from == 0) {
      EXPECT_EQ(given, expected);
    }
    barrier->Release({});
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

}  // namespace
}  // namespace koios::engine
