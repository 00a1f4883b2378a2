#include "engine/scope/homes.h"

#include "gtest/gtest.h"

namespace koios::engine {
namespace {

TEST(HomesTest, InstancesOfABatchHaveConsecutiveSerials) {
  Homes homes;
  EXPECT_EQ(homes.Find(0), nullptr);  // at a worker that is not the coordinator
  EXPECT_EQ(homes.BeginRoot()->serial(), 0u);
  Parked* first = homes.Begin(3, 10);
  Parked* second = homes.Begin(5, 2);
  EXPECT_EQ(first->first_serial, 1u);
  EXPECT_EQ(second->first_serial, 11u);
  for (uint64_t serial = 1; serial <= 12; ++serial) {
    Home* home = homes.Find(serial);
    ASSERT_NE(home, nullptr) << serial;
    EXPECT_EQ(home->serial(), serial);
    EXPECT_EQ(home->parked, serial <= 10 ? first : second);
  }
  EXPECT_EQ(homes.Find(13), nullptr);
  EXPECT_EQ(homes.Find(0)->serial(), 0u);
}

// The parked rows go with the last of their instances, in whatever order they end; serials are
// never given again.
TEST(HomesTest, WhatIsOverIsNotFound) {
  Homes homes;
  Parked* first = homes.Begin(1, 3);
  first->charged = 100;
  homes.Begin(1, 1)->charged = 10;
  EXPECT_EQ(homes.Charged(), 110);
  EXPECT_EQ(homes.End(homes.Find(2)), 0);
  EXPECT_EQ(homes.Find(2), nullptr);
  EXPECT_EQ(homes.End(homes.Find(1)), 0);
  EXPECT_EQ(homes.End(homes.Find(3)), 100);
  EXPECT_EQ(homes.Find(3), nullptr);
  EXPECT_EQ(homes.Charged(), 10);
  EXPECT_EQ(homes.End(homes.Find(4)), 10);
  EXPECT_EQ(homes.Begin(1, 1)->first_serial, 5u);
}

}  // namespace
}  // namespace koios::engine
