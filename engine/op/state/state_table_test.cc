#include "engine/op/state/state_table.h"

#include "gtest/gtest.h"

namespace koios::engine {
namespace {

TEST(StateTableTest, TheEndOfAnInstanceTakesItsStatesOfAllIterationsAndNoOthers) {
  StateTable<int> table;
  const InstanceId one{0, 1}, two{0, 2}, elsewhere{1, 1};
  *table.FindOrMake({one, {0}, 1, 0}, 10).first += 1;
  *table.FindOrMake({one, {1}, 1, 0}, 20).first += 1;
  table.FindOrMake({two, {0}, 1, 0}, 30);
  table.FindOrMake({elsewhere, {0}, 1, 0}, 40);
  EXPECT_FALSE(table.FindOrMake({one, {0}, 1, 0}, 0).second);

  int sum = 0;
  table.Release(one, [&sum](int state) { sum += state; });
  EXPECT_EQ(sum, 32);
  EXPECT_EQ(table.Find({one, {0}}), nullptr);
  EXPECT_EQ(table.Find({one, {1}}), nullptr);
  ASSERT_NE(table.Find({two, {0}}), nullptr);
  EXPECT_EQ(*table.Find({two, {0}}), 30);
  ASSERT_NE(table.Find({elsewhere, {0}}), nullptr);
  EXPECT_EQ(*table.Find({elsewhere, {0}}), 40);
}

TEST(StateTableTest, ErasesOneIteration) {
  StateTable<int> table;
  table.FindOrMake({{0, 1}, {0}, 1, 0}, 1);
  table.FindOrMake({{0, 1}, {1}, 1, 0}, 2);
  table.Erase({{0, 1}, {0}});
  table.Erase({{0, 7}, {0}});
  EXPECT_EQ(table.Find({{0, 1}, {0}}), nullptr);
  ASSERT_NE(table.Find({{0, 1}, {1}}), nullptr);
  EXPECT_EQ(*table.Find({{0, 1}, {1}}), 2);
}

}  // namespace
}  // namespace koios::engine
