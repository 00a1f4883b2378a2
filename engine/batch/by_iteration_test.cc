#include "engine/batch/by_iteration.h"

#include <vector>

#include "gtest/gtest.h"

namespace koios::engine {
namespace {

struct Kept {
  int number = 0;
  bool empty() const { return number == 0; }
};

std::vector<Loops> KeysOf(ByIteration<Kept>* kept) {
  std::vector<Loops> keys;
  kept->ForEach([&keys](const Loops& loops, const Kept&) { keys.push_back(loops); });
  return keys;
}

TEST(ByIterationTest, KeepsTheOrderOfIterations) {
  ByIteration<Kept> kept;
  EXPECT_TRUE(kept.empty());
  EXPECT_EQ(kept.Last(), nullptr);
  for (const Loops& loops : {Loops{2}, Loops{}, Loops{1, 5}, Loops{0}}) kept[loops].number = 1;
  EXPECT_EQ(KeysOf(&kept), (std::vector<Loops>{{}, {0}, {1, 5}, {2}}));
  EXPECT_EQ(*kept.Last(), Loops{2});
  const auto any = [](const Loops&, const Kept&) { return true; };
  const auto in_two = [](const Loops& loops, const Kept&) { return loops.size() == 2; };
  EXPECT_EQ(*kept.First(any).loops, Loops{});
  EXPECT_EQ(*kept.Last(any).loops, Loops{2});
  EXPECT_EQ(*kept.First(in_two).loops, (Loops{1, 5}));
  EXPECT_EQ(kept.Last([](const Loops&, const Kept&) { return false; }).kept, nullptr);
}

TEST(ByIterationTest, ForgetsWhatIsEmptyAndKeepsItsRoom) {
  ByIteration<Kept> kept;
  kept[{}].number = 1;
  kept[{4}].number = 2;
  kept.Trim({4});  // not empty
  ASSERT_NE(kept.Find({4}), nullptr);
  Kept* place = kept.Find({4});
  for (const Loops& loops : {Loops{}, Loops{4}}) {
    kept[loops].number = 0;
    kept.Trim(loops);
    EXPECT_EQ(kept.Find(loops), nullptr);
  }
  EXPECT_TRUE(kept.empty());
  EXPECT_EQ(&kept[{7}], place);
  kept[{7}].number = 3;
  EXPECT_EQ(KeysOf(&kept), std::vector<Loops>{{7}});
  kept.Trim({9});  // never there
}

}  // namespace
}  // namespace koios::engine
