#include "engine/sched/flow/idle_watch.h"

#include "gtest/gtest.h"

namespace koios::engine {
namespace {

// Of one of two workers.
FrameCounts Counts(uint32_t worker, uint64_t sent, uint64_t received) {
  FrameCounts counts;
  counts.sent_to.resize(2);
  counts.received_from.resize(2);
  counts.sent_to[1 - worker] = sent;
  counts.received_from[1 - worker] = received;
  return counts;
}

bool ByOp(const HeldRows& a, const HeldRows& b) { return a.op < b.op; }

TEST(IdleWatchTest, WaitsForFramesUnderWay) {
  IdleWatch watch;
  watch.Tell(0, Counts(0, 3, 0), HeldRows{7, {}});
  EXPECT_FALSE(watch.Decide(ByOp));
  watch.Tell(1, Counts(1, 0, 2), std::nullopt);
  EXPECT_FALSE(watch.Decide(ByOp)) << "one of three frames has not come";
  watch.Tell(1, Counts(1, 0, 3), HeldRows{4, {1}});
  EXPECT_EQ(watch.Decide(ByOp), (HeldRows{4, {1}}));
}

// Worker 1 spoke, then each sent the other one as many frames: what it said is old.
TEST(IdleWatchTest, WhatIsSaidMayBeOld) {
  IdleWatch watch;
  watch.Tell(1, Counts(1, 2, 2), HeldRows{7, {}});
  watch.Tell(0, Counts(0, 5, 5), HeldRows{7, {}});
  EXPECT_FALSE(watch.Decide(ByOp));
  watch.Tell(1, Counts(1, 5, 5), HeldRows{7, {}});
  EXPECT_TRUE(watch.Decide(ByOp));
}

TEST(IdleWatchTest, AllSpeakAgainBehindADecision) {
  IdleWatch watch;
  watch.Tell(0, Counts(0, 1, 0), HeldRows{7, {}});
  watch.Tell(1, Counts(1, 0, 1), std::nullopt);
  ASSERT_TRUE(watch.Decide(ByOp));
  watch.Tell(0, Counts(0, 1, 0), HeldRows{7, {}});
  EXPECT_FALSE(watch.Decide(ByOp)) << "worker 1 may have got to work again";
  watch.Tell(1, Counts(1, 0, 1), std::nullopt);
  EXPECT_EQ(watch.Decide(ByOp), (HeldRows{7, {}}));
}

TEST(IdleWatchTest, NothingHeldIsNothingToDecide) {
  IdleWatch watch;
  watch.Tell(0, Counts(0, 1, 1), std::nullopt);
  EXPECT_FALSE(watch.Decide(ByOp));
}

}  // namespace
}  // namespace koios::engine
