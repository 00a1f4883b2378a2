#include "core/clock.h"

#include <gtest/gtest.h>

namespace koios {
namespace {

TEST(ClockTest, SteadyNeverGoesBack) {
  const Clock* clock = SteadyClock::Get();
  int64_t last = clock->NowNanos();
  for (int i = 0; i < 1'000; ++i) {
    const int64_t now = clock->NowNanos();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ClockTest, ManualStandsStill) {
  ManualClock clock(5);
  EXPECT_EQ(clock.NowNanos(), 5);
  clock.Advance(10);
  EXPECT_EQ(clock.NowNanos(), 15);
  clock.Set(1);
  EXPECT_EQ(clock.NowNanos(), 1);
}

}  // namespace
}  // namespace koios
