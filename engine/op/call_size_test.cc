#include "engine/op/call_size.h"

#include <gtest/gtest.h>

namespace koios::engine {
namespace {

struct StepClock : Clock {
  explicit StepClock(int64_t nanos) : step(nanos) {}
  int64_t NowNanos() const override { return now += step; }
  const int64_t step;
  mutable int64_t now = 0;
};

TEST(CallSizeTest, FollowsWhatCallsTake) {
  const StepClock slow(1'000'000), quick(10), fair(CallSize::kLongNanos / 2);
  CallSize size(32, 1000, 4000);
  EXPECT_EQ(size.Measure(slow, [] { return 7; }), 7);
  EXPECT_EQ(size.size(), 500u);
  size.Measure(fair, [] { return 7; });
  EXPECT_EQ(size.size(), 500u);
  for (int i = 0; i < 10; ++i) size.Measure(slow, [] { return 7; });
  EXPECT_EQ(size.size(), 32u);
  for (int i = 0; i < 10; ++i) size.Measure(quick, [] { return 7; });
  EXPECT_EQ(size.size(), 4000u);
}

}  // namespace
}  // namespace koios::engine
