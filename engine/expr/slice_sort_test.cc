#include "engine/expr/slice_sort.h"

#include "core/random.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

TEST(SliceSortTest, SortsStablyWhateverTheSliceIs) {
  Rng rng(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<int> keys(rng.Uniform(round % 7 == 0 ? 3000 : 70));
    for (int& key : keys) key = static_cast<int>(rng.Uniform(20));
    const auto less = [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; };
    std::vector<uint32_t> expected(keys.size());
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), less);
    SliceSort sort;
    sort.Begin(keys.size(), round % 3 == 0);
    const size_t work = 1 + rng.Uniform(100);
    for (size_t left = work; !sort.Step(less, &left); left = work) EXPECT_EQ(left, 0u);
    ASSERT_EQ(sort.order(), expected) << "round " << round;
  }
}

TEST(SliceSortTest, ASliceComparesAboutAsOftenAsAsked) {
  Rng rng(5);
  std::vector<uint64_t> keys(100'000);
  for (uint64_t& key : keys) key = rng.Next();
  SliceSort sort;
  sort.Begin(keys.size());
  int slices = 0;
  for (bool sorted = false; !sorted; ++slices) {
    size_t compared = 0;
    size_t work = 1000;
    sorted =
        sort.Step([&](uint32_t a, uint32_t b) { return ++compared, keys[a] < keys[b]; }, &work);
    EXPECT_LT(compared, 1500u);
  }
  EXPECT_GT(slices, 1000);
  EXPECT_LT(slices, 3000);
}

// What each comparison takes of the work counts: a slice of dear ones has few.
TEST(SliceSortTest, DearComparisonsMakeSmallSlices) {
  Rng rng(6);
  std::vector<uint64_t> keys(1000);
  for (uint64_t& key : keys) key = rng.Next();
  SliceSort sort;
  sort.Begin(keys.size(), /*wide=*/true);
  for (bool sorted = false; !sorted;) {
    size_t compared = 0, work = 1000;
    const auto less = [&](uint32_t a, uint32_t b) {
      ++compared;
      work -= std::min<size_t>(work, 400);
      return keys[a] < keys[b];
    };
    sorted = sort.Step(less, &work);
    EXPECT_LE(compared, 3u);
  }
  EXPECT_TRUE(std::is_sorted(sort.order().begin(), sort.order().end(),
                             [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; }));
}

}  // namespace
}  // namespace koios::engine
