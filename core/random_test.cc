#include "core/random.h"

#include <gtest/gtest.h>

#include <array>

namespace koios {
namespace {

TEST(RandomTest, SplitMixHasThePublishedNumbers) {
  uint64_t state = 1'234'567;
  EXPECT_EQ(SplitMix64(&state), 6'457'827'717'110'365'317u);
  EXPECT_EQ(SplitMix64(&state), 3'203'168'211'198'807'973u);
}

TEST(RandomTest, TheSameSeedGivesTheSameNumbers) {
  Rng a(42), b(42), c(43);
  int same = 0;
  for (int i = 0; i < 100; ++i) {
    const uint64_t v = a.Next();
    EXPECT_EQ(v, b.Next());
    same += v == c.Next() ? 1 : 0;
  }
  EXPECT_EQ(same, 0);
  EXPECT_EQ(MixSeeds(1, 2), MixSeeds(1, 2));
  EXPECT_NE(MixSeeds(1, 2), MixSeeds(2, 1));
}

TEST(RandomTest, UniformStaysInRangeAndReachesAll) {
  Rng rng(1);
  std::array<int, 7> counts = {};
  for (int i = 0; i < 70'000; ++i) ++counts[rng.Uniform(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
  EXPECT_EQ(rng.Uniform(1), 0u);
  for (int i = 0; i < 1'000; ++i)
    EXPECT_LT(rng.Uniform((uint64_t{1} << 63) + 1), (uint64_t{1} << 63) + 1);
}

TEST(RandomTest, DoublesAreBelowOne) {
  Rng rng(1);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double v = rng.Double();
    ASSERT_GE(v, 0.0);
    ASSERT_LT(v, 1.0);
    sum += v;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
  EXPECT_FALSE(rng.Chance(0));
  EXPECT_TRUE(rng.Chance(1));
}

TEST(RandomTest, ForksDiffer) {
  Rng rng(1);
  Rng a = rng.Fork(), b = rng.Fork();
  EXPECT_NE(a.Next(), b.Next());
}

}  // namespace
}  // namespace koios
