#include "engine/sched/idle_watch.h"

#include "gtest/gtest.h"

namespace koios::engine {
namespace {

bool ByOp(const HeldRows& a, const HeldRows& b) { return a.op < b.op; }

TEST(IdleWatchTest, WaitsForFramesUnderWay) {
  IdleWatch watch;
  watch.Tell(0, 3, 0, HeldRows{7, {}});
  EXPECT_FALSE(watch.Decide(ByOp));
  watch.Tell(1, 0, 2, std::nullopt);
  EXPECT_FALSE(watch.Decide(ByOp)) << "one of three frames has not come";
  watch.Tell(1, 0, 3, HeldRows{4, {1}});
  EXPECT_EQ(watch.Decide(ByOp), (HeldRows{4, {1}}));
}

TEST(IdleWatchTest, AllSpeakAgainBehindADecision) {
  IdleWatch watch;
  watch.Tell(0, 1, 0, HeldRows{7, {}});
  watch.Tell(1, 0, 1, std::nullopt);
  ASSERT_TRUE(watch.Decide(ByOp));
  watch.Tell(0, 1, 0, HeldRows{7, {}});
  EXPECT_FALSE(watch.Decide(ByOp)) << "worker 1 may have got to work again";
  watch.Tell(1, 0, 1, std::nullopt);
  EXPECT_EQ(watch.Decide(ByOp), (HeldRows{7, {}}));
}

TEST(IdleWatchTest, NothingHeldIsNothingToDecide) {
  IdleWatch watch;
  watch.Tell(0, 1, 1, std::nullopt);
  EXPECT_FALSE(watch.Decide(ByOp));
}

}  // namespace
}  // namespace koios::engine
