#include "server/guard/memory_guard.h"

#include <gtest/gtest.h>

namespace koios::server {
namespace {

// A process whose resident memory the test decides. Only Look() looks.
class MemoryGuardTest : public testing::Test {
 protected:
  MemoryGuardOptions Options() {
    MemoryGuardOptions options;
    options.rest_bytes = 300;
    options.resident = [this] { return resident_; };
    options.give_back = [this] {
      ++given_back_;
      resident_ -= freed_;
      freed_ = 0;
    };
    options.period = std::chrono::milliseconds(0);
    return options;
  }

  uint64_t resident_ = 50;
  uint64_t freed_ = 0;
  int given_back_ = 0;
  MemoryAccount account_{"all queries", 700};
};

TEST_F(MemoryGuardTest, WhatNoAccountSeesIsTakenFromTheQueries) {
  MemoryGuard guard(&account_, Options());
  ASSERT_TRUE(account_.TryCharge(100));
  resident_ = 50 + 300 + 100;
  guard.Look();
  EXPECT_EQ(guard.charged(), 0);
  EXPECT_EQ(given_back_, 0);
  resident_ += 650;
  guard.Look();
  EXPECT_EQ(guard.charged(), 650);
  EXPECT_FALSE(account_.TryCharge(1));
  guard.Look();  // what it has charged itself is not counted again
  EXPECT_EQ(guard.charged(), 650);
  resident_ -= 600;
  guard.Look();
  EXPECT_EQ(guard.charged(), 50);
  EXPECT_TRUE(account_.TryCharge(550));
  account_.Release(650);
}

TEST_F(MemoryGuardTest, AReserveThatNobodyUsesIsNotResident) {
  MemoryGuardOptions options = Options();
  options.unused = [] { return 200; };
  MemoryGuard guard(&account_, options);
  ASSERT_TRUE(account_.TryCharge(300));
  resident_ = 50 + 300 + 150;
  guard.Look();
  EXPECT_EQ(guard.charged(), 50);
  account_.Release(300);
}

TEST_F(MemoryGuardTest, FreedMemoryIsGivenBackFirst) {
  MemoryGuard guard(&account_, Options());
  resident_ = 1000;
  freed_ = 700;
  guard.Look();
  EXPECT_EQ(given_back_, 1);
  EXPECT_EQ(guard.charged(), 0);
}

TEST_F(MemoryGuardTest, ItsChargeGoesWithIt) {
  {
    MemoryGuard guard(&account_, Options());
    resident_ = 1000;
    guard.Look();
    EXPECT_EQ(guard.charged(), 650);
  }
  EXPECT_EQ(account_.used(), 0);
}

}  // namespace
}  // namespace koios::server
