#include "engine/op/state/slice_sort.h"

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
    sort.Begin(keys.size());
    const size_t work = 1 + rng.Uniform(100);
    while (!sort.Step(less, work)) {
    }
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
    sorted = sort.Step([&](uint32_t a, uint32_t b) { return ++compared, keys[a] < keys[b]; }, 1000);
    EXPECT_LT(compared, 1500u);
  }
  EXPECT_GT(slices, 1000);
  EXPECT_LT(slices, 3000);
}

}  // namespace
}  // namespace koios::engine
