#include "core/memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace koios {
namespace {

TEST(MemoryAccountTest, ChargesGoUpTheChain) {
  MemoryAccount process("process", 100);
  MemoryAccount query("query", 60, &process);
  MemoryAccount step("order()", kNoMemoryLimit, &query);
  EXPECT_TRUE(step.TryCharge(50));
  EXPECT_EQ(process.used(), 50);
  EXPECT_FALSE(step.TryCharge(11));  // the query's limit
  EXPECT_EQ(step.used(), 50);
  EXPECT_EQ(query.used(), 50);
  EXPECT_EQ(process.used(), 50);
  MemoryAccount other("other", kNoMemoryLimit, &process);
  EXPECT_FALSE(other.TryCharge(51));
  EXPECT_EQ(other.used(), 0);
  EXPECT_TRUE(other.TryCharge(50));
  EXPECT_FALSE(step.TryCharge(1));  // the process's limit
  other.Release(50);
  step.Release(20);
  EXPECT_EQ(process.used(), 30);
  EXPECT_EQ(process.peak(), 100);
  EXPECT_EQ(step.peak(), 50);
  step.Release(30);
}

TEST(MemoryAccountTest, ChargePassesTheLimitAndIsSeen) {
  MemoryAccount query("query", 10);
  query.Charge(15);
  EXPECT_EQ(query.used(), 15);
  EXPECT_FALSE(query.TryCharge(0 + 1));
  EXPECT_FALSE(query.TryCharge(INT64_MAX));  // no overflow
  query.Release(15);
}

TEST(MemoryAccountTest, AChildThatEndsGivesBack) {
  MemoryAccount process("process");
  {
    MemoryAccount query("query", 10, &process);
    query.Charge(7);
  }
  EXPECT_EQ(process.used(), 0);
}

TEST(MemoryAccountTest, OverLimitNamesTheAccountThatRefuses) {
  MemoryAccount process("the process", 100, nullptr, {"PROCESS", "--all", "Wait."});
  MemoryAccount query("the query", 1'000, &process, {"QUERY", "--one", "Ask for less."});
  query.Charge(90);
  const Status by_process = query.OverLimit(20);
  EXPECT_EQ(by_process.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(by_process)->reason, "PROCESS");
  EXPECT_EQ(DetailOf(by_process)->limit, "the process: 100 bytes");
  EXPECT_EQ(DetailOf(by_process)->used, "110 bytes");
  EXPECT_EQ(DetailOf(by_process)->setting, "--all");
  EXPECT_EQ(DetailOf(by_process)->hint, "Wait.");
  const Status by_query = query.OverLimit(920);
  EXPECT_EQ(DetailOf(by_query)->reason, "QUERY");
  EXPECT_EQ(DetailOf(by_query)->limit, "the query: 1000 bytes");
  EXPECT_EQ(DetailOf(by_query)->setting, "--one");
  // Somebody released meanwhile: only what is shared can have refused.
  EXPECT_EQ(DetailOf(query.OverLimit(5))->reason, "PROCESS");
  query.Release(90);
}

TEST(MemoryAccountTest, WhatNeedsLittleHasRoomBesideWhatNeedsMuch) {
  constexpr int64_t kSmall = MemoryAccount::kSmallBytes;
  MemoryAccount process("the process", 10 * kSmall);
  process.KeepForSmall(2 * kSmall);
  MemoryAccount large("large", kNoMemoryLimit, &process);
  MemoryAccount small("small", kNoMemoryLimit, &process);
  EXPECT_TRUE(large.TryCharge(8 * kSmall));
  EXPECT_FALSE(large.TryCharge(1));
  EXPECT_EQ(DetailOf(large.OverLimit(1))->limit,
            "the process: " + std::to_string(8 * kSmall) + " bytes");
  EXPECT_TRUE(small.TryCharge(kSmall));
  EXPECT_FALSE(small.TryCharge(1));  // it is not small any more
  EXPECT_EQ(process.used(), 9 * kSmall);
}

TEST(MemoryAccountTest, ThreadsNeverPassTheLimitAndLoseNothing) {
  MemoryAccount process("process", 1'000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&process] {
      MemoryAccount query("query", 600, &process);
      for (int i = 0; i < 20'000; ++i) {
        if (query.TryCharge(1 + i % 500)) query.Release(1 + i % 500);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(process.used(), 0);
  EXPECT_LE(process.peak(), 1'000);
  EXPECT_GT(process.peak(), 0);
}

TEST(MemoryAccountTest, AReserveIsItsOwnWhateverOthersUse) {
  MemoryAccount process("process", 1'000);
  MemoryAccount other("other", 1'000, &process);
  {
    MemoryAccount query("query", 600, &process);
    ASSERT_TRUE(query.TryReserve(200));
    EXPECT_EQ(query.reserved(), 200);
    EXPECT_EQ(query.used(), 0);
    EXPECT_EQ(process.used(), 200);
    ASSERT_TRUE(other.TryCharge(800));
    EXPECT_FALSE(other.TryCharge(1));
    EXPECT_TRUE(query.TryCharge(200));
    EXPECT_FALSE(query.IsTight());  // others have nearly all, but not of what is its own
    EXPECT_FALSE(query.TryCharge(1));
    const Status refused = query.OverLimit(1);
    EXPECT_NE(MessageOf(refused).find("process, 1000 bytes"), std::string::npos) << refused;
    EXPECT_EQ(process.used(), 1'000);
    other.Release(800);

    EXPECT_TRUE(query.TryCharge(150));  // above the reserve
    EXPECT_EQ(process.used(), 350);
    EXPECT_FALSE(query.TryCharge(251));
    query.Release(300);
    EXPECT_EQ(process.used(), 200);
    query.Charge(500);  // across the border, by force
    EXPECT_EQ(process.used(), 550);
    query.Release(550);
    EXPECT_EQ(query.used(), 0);
    EXPECT_EQ(process.used(), 200);
    EXPECT_EQ(query.peak(), 550);
  }
  EXPECT_EQ(process.used(), 0);
}

TEST(MemoryAccountTest, AReserveThatDoesNotFitIsNotTaken) {
  MemoryAccount process("process", 1'000);
  MemoryAccount query("query", 600, &process);
  ASSERT_TRUE(process.TryCharge(500));
  EXPECT_FALSE(query.TryReserve(501));
  EXPECT_EQ(query.reserved(), 0);
  EXPECT_EQ(process.used(), 500);
  EXPECT_TRUE(query.TryReserve(500));
  process.Release(500);
}

// Charges across the border of the reserve, some refused, by many threads: the parent has what is
// above it, to the byte.
TEST(MemoryAccountTest, AReserveIsKeptUnderConcurrency) {
  MemoryAccount process("process", 1'000);
  {
    MemoryAccount query("query", 2'000, &process);
    ASSERT_TRUE(query.TryReserve(300));
    std::vector<std::thread> threads;
    std::atomic<int> refused{0};
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&query, &refused] {
        for (int i = 0; i < 20'000; ++i) {
          if (query.TryCharge(1 + i % 500)) {
            query.Release(1 + i % 500);
          } else {
            ++refused;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(query.used(), 0);
    EXPECT_EQ(process.used(), 300);
    EXPECT_TRUE(query.TryCharge(1'000));
    EXPECT_FALSE(query.TryCharge(1));
    query.Release(1'000);
  }
  EXPECT_EQ(process.used(), 0);
}

TEST(MemoryChargeTest, OwnsAndMoves) {
  MemoryAccount account("a", 100);
  {
    MemoryCharge charge(&account);
    EXPECT_TRUE(charge.TryResize(80));
    EXPECT_FALSE(charge.TryResize(101));
    EXPECT_EQ(charge.bytes(), 80);
    EXPECT_TRUE(charge.TryResize(10));
    EXPECT_EQ(account.used(), 10);
    charge.Resize(200);
    EXPECT_EQ(account.used(), 200);
    MemoryCharge moved = std::move(charge);
    EXPECT_EQ(account.used(), 200);
    MemoryCharge target(&account);
    target.Resize(5);
    target = std::move(moved);
    EXPECT_EQ(account.used(), 200);
    target = MemoryCharge();
    EXPECT_EQ(account.used(), 0);
  }
  EXPECT_EQ(account.used(), 0);
}

}  // namespace
}  // namespace koios
