#include "engine/sched/flow/outbox.h"

#include <numeric>

#include "core/value.h"
#include "engine/scope/weight.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

// The longs from 0 on, in one run.
Batch Longs(size_t rows) {
  Batch batch;
  batch.slots.resize(1);
  for (size_t row = 0; row < rows; ++row) {
    batch.AppendCurrent(Value::Long(static_cast<int64_t>(row)));
  }
  return batch;
}

std::vector<uint32_t> All(size_t rows) {
  std::vector<uint32_t> picked(rows);
  std::iota(picked.begin(), picked.end(), 0);
  return picked;
}

// Rows are cut to the size of a frame, in their order, and runs keep their weight.
TEST(OutboxTest, FramesAreCut) {
  constexpr size_t kRows = 1000;
  Batch source = Longs(kRows);
  for (const uint32_t count : {1u, 300u, 2u, 697u}) source.runs.push_back({{}, {}, count, 2});
  Outbox outbox(2, 1024);
  EXPECT_FALSE(outbox.IsReady(1, {}, true));
  outbox.Add(1, {}, source, All(kRows), source.runs);
  EXPECT_TRUE(outbox.Blocked({}));
  EXPECT_GT(outbox.ByteSize(), kRows * sizeof(int64_t));
  WeightSum sum;
  int64_t next = 0;
  size_t frames = 0;
  for (; outbox.IsReady(1, {}, true); ++frames) {
    const size_t bytes = outbox.NextBytes(1, {});
    const Batch batch = outbox.Take(1, {});
    EXPECT_EQ(bytes, batch.ByteSize());
    EXPECT_LE(bytes, 3000u);
    size_t covered = 0;
    for (const engine::Run& run : batch.runs) {
      sum.Add(run.k);
      covered += run.count;
    }
    EXPECT_EQ(covered, batch.rows);
    for (size_t row = 0; row < batch.rows; ++row) {
      EXPECT_EQ(batch.slots[0].Get(row).AsInteger(), next++);
    }
  }
  EXPECT_EQ(next, static_cast<int64_t>(kRows));
  EXPECT_TRUE(sum.IsOne());
  EXPECT_GT(frames, 7u);
  EXPECT_EQ(outbox.ByteSize(), 0u);
  EXPECT_TRUE(outbox.Empty());
}

TEST(OutboxTest, WhatIsSmallIsGathered) {
  Outbox outbox(2, kBatchBytes);
  const Batch source = Longs(10);
  for (int i = 0; i < 3; ++i) outbox.Add(1, {4}, source, {1, 2}, {{{}, {4}, 2, 5}});
  EXPECT_FALSE(outbox.IsReady(1, {4}, false));
  EXPECT_FALSE(outbox.Blocked({4}));
  ASSERT_TRUE(outbox.IsReady(1, {4}, true));
  EXPECT_EQ(outbox.Take(1, {4}).rows, 6u);
}

TEST(OutboxTest, WaitingIsDeepestFirst) {
  Outbox outbox(2, kBatchBytes);
  for (const uint32_t i : {1u, 7u, 3u}) outbox.Add(1, {i}, Longs(1), {0}, {{{}, {i}, 1, 0}});
  EXPECT_EQ(outbox.Waiting(1), (std::vector<Loops>{{7}, {3}, {1}}));
  EXPECT_TRUE(outbox.Waiting(0).empty());
}

TEST(OutboxTest, AcknowledgementsAndGrantsThatCantBe) {
  Outbox outbox(2, kBatchBytes);
  FrameCredit credit;
  EXPECT_FALSE(outbox.Acknowledge(1, {}, &credit));
  EXPECT_FALSE(outbox.Answer(1, {}));
  outbox.Sent(1, {}, {10, false});
  EXPECT_TRUE(outbox.MayPass(1, {}));
  outbox.Sent(1, {}, {20, true});
  EXPECT_FALSE(outbox.MayPass(1, {}));
  EXPECT_FALSE(outbox.IsOpen(1, {}));
  EXPECT_TRUE(outbox.Acknowledge(1, {}, &credit));
  EXPECT_EQ(credit.bytes, 10u);
  EXPECT_FALSE(credit.granted);
  EXPECT_TRUE(outbox.IsOpen(1, {}));
  EXPECT_TRUE(outbox.Acknowledge(1, {}, &credit));
  EXPECT_TRUE(credit.granted);
  EXPECT_FALSE(outbox.Acknowledge(1, {}, &credit));
  EXPECT_TRUE(outbox.Ask(1, {3}));
  EXPECT_FALSE(outbox.Ask(1, {3}));
  EXPECT_TRUE(outbox.Answer(1, {3}));
  EXPECT_FALSE(outbox.Answer(1, {3}));
}

}  // namespace
}  // namespace koios::engine
