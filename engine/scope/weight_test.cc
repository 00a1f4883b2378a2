#include "engine/scope/weight.h"

#include <algorithm>

#include "core/random.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

TEST(WeightSumTest, HalvesMakeOne) {
  WeightSum sum;
  EXPECT_TRUE(sum.IsZero());
  sum.Add(1);
  EXPECT_FALSE(sum.IsOne());
  sum.Add(2, 2);
  EXPECT_TRUE(sum.IsOne());
}

TEST(WeightSumTest, PiecesAreTheBinaryDigits) {
  WeightSum sum;
  sum.Add(3);
  sum.Add(200);
  sum.Add(200);
  EXPECT_EQ(sum.Pieces(), (std::vector<uint32_t>{3, 199}));
}

TEST(WeightSumTest, CarriesAcrossWords) {
  WeightSum sum;
  for (uint32_t k = 1; k <= 300; ++k) sum.Add(k);
  EXPECT_FALSE(sum.IsOne());
  sum.Add(300);
  EXPECT_TRUE(sum.IsOne());
}

TEST(SplitWeightTest, PartsAddUpExactly) {
  for (uint32_t m = 1; m <= 300; ++m) {
    const ExactSplit split = SplitWeight(0, m);
    WeightSum sum;
    for (uint32_t i = 0; i < m; ++i) {
      EXPECT_FALSE(sum.IsOne()) << m;
      sum.Add(split.low_k + (i < split.num_low ? 0 : 1));
    }
    EXPECT_TRUE(sum.IsOne()) << m;
  }
}

TEST(WeightPoolTest, GrowsSlowlyAndLosesNothing) {
  WeightPool pool;
  WeightSum sum;
  constexpr int kPieces = 1'000'000;
  uint32_t largest = 0;
  for (int i = 0; i < kPieces; ++i) {
    const uint32_t k = pool.Take();
    largest = std::max(largest, k);
    sum.Add(k);
  }
  EXPECT_FALSE(sum.IsOne());
  sum.Add(pool.k(), pool.left());
  EXPECT_TRUE(sum.IsOne());
  EXPECT_LE(largest, 200u);
}

// Random splits and pools: never whole early, whole at the end.
TEST(WeightSumTest, RandomTreesAreWholeExactlyAtTheEnd) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    WeightSum home;
    std::vector<uint32_t> runs = {0};
    for (int step = 0; !runs.empty(); ++step) {
      ASSERT_FALSE(home.IsOne()) << "seed " << seed;
      const size_t at = rng.Uniform(runs.size());
      const uint32_t k = runs[at];
      runs[at] = runs.back();
      runs.pop_back();
      if (step > 500 || rng.Uniform(100) < 40) {
        home.Add(k);
      } else if (rng.Uniform(2) == 0) {
        const uint32_t m = static_cast<uint32_t>(2 + rng.Uniform(5));
        const ExactSplit split = SplitWeight(k, m);
        for (uint32_t i = 0; i < m; ++i) runs.push_back(split.low_k + (i < split.num_low ? 0 : 1));
      } else {
        WeightPool pool(k);
        for (uint64_t i = rng.Uniform(5); i > 0; --i) runs.push_back(pool.Take());
        home.Add(pool.k(), pool.left());
      }
    }
    EXPECT_TRUE(home.IsOne()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace koios::engine
