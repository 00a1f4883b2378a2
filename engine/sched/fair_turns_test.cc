#include "engine/sched/fair_turns.h"

#include <map>

#include "core/random.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

constexpr uint64_t kSlice = 300'000;

QueryId Number(uint64_t serial) { return {0, 1, serial}; }

// Lets those that are ready have slices, and adds up what each has had.
void GiveSlices(FairTurns* turns, int slices, const std::map<uint64_t, uint64_t>& slice_of,
                std::map<uint64_t, uint64_t>* had) {
  for (int i = 0; i < slices; ++i) {
    const std::optional<QueryId> next = turns->Next();
    ASSERT_TRUE(next.has_value());
    const auto found = slice_of.find(next->serial);
    const uint64_t nanos = found == slice_of.end() ? kSlice : found->second;
    turns->Ran(*next, nanos, /*ready=*/true);
    (*had)[next->serial] += nanos;
  }
}

TEST(FairTurnsTest, WhoTakesLongerSlicesHasFewer) {
  FairTurns turns;
  for (uint64_t i = 0; i < 3; ++i) turns.Add(Number(i));
  std::map<uint64_t, uint64_t> had;
  GiveSlices(&turns, 10'000, {{0, 100'000}, {1, 300'000}, {2, 2'000'000}}, &had);
  const auto most = static_cast<double>(std::max({had[0], had[1], had[2]}));
  const auto least = static_cast<double>(std::min({had[0], had[1], had[2]}));
  EXPECT_LT(most / least, 1.02);
}

TEST(FairTurnsTest, AShortOneIsOverWhileLongOnesWait) {
  FairTurns turns;
  std::map<uint64_t, uint64_t> had;
  for (uint64_t i = 0; i < 64; ++i) turns.Add(Number(i));
  GiveSlices(&turns, 64 * 100, {}, &had);  // all are long by now
  turns.Add(Number(100));
  const std::map<uint64_t, uint64_t> before = had;
  int slices = 0;
  while (had[100] < 10 * kSlice) {
    GiveSlices(&turns, 1, {}, &had);
    ASSERT_LT(++slices, 1000);
  }
  EXPECT_LE(slices, 14);  // three of four
}

// However many short ones come, long ones have their quarter, and share it.
TEST(FairTurnsTest, NobodyStarves) {
  FairTurns turns;
  std::map<uint64_t, uint64_t> had;
  turns.Add(Number(0));
  turns.Add(Number(1));
  GiveSlices(&turns, 1000, {}, &had);
  const uint64_t first = had[0], second = had[1];
  uint64_t all = 0;
  for (uint64_t serial = 2; serial < 2000; ++serial) {
    turns.Add(Number(serial));
    GiveSlices(&turns, 3, {}, &had);
    all += 3 * kSlice;
    if (serial >= 10) turns.Remove(Number(serial - 8));
  }
  EXPECT_GT(had[0] - first, all / 9);
  EXPECT_GT(had[1] - second, all / 9);
}

TEST(FairTurnsTest, WhoWasNotReadyCatchesUpOnNothing) {
  FairTurns turns;
  std::map<uint64_t, uint64_t> had;
  for (uint64_t i = 0; i < 2; ++i) turns.Add(Number(i));
  GiveSlices(&turns, 400, {}, &had);
  while (turns.Next() != Number(1)) GiveSlices(&turns, 1, {}, &had);
  turns.Ran(Number(1), kSlice, /*ready=*/false);
  GiveSlices(&turns, 1000, {}, &had);
  turns.Wake(Number(1));
  turns.Wake(Number(1));  // it is ready already
  const std::map<uint64_t, uint64_t> before = had;
  GiveSlices(&turns, 100, {}, &had);
  EXPECT_NEAR(static_cast<double>(had[0] - before.at(0)),
              static_cast<double>(had[1] - before.at(1)), 2.0 * kSlice);
}

TEST(FairTurnsTest, WhatIsGoneHasNoTurn) {
  FairTurns turns;
  EXPECT_FALSE(turns.Next().has_value());
  turns.Add(Number(1));
  turns.Remove(Number(1));
  turns.Remove(Number(1));
  turns.Wake(Number(1));
  turns.Ran(Number(1), kSlice, true);
  EXPECT_FALSE(turns.Next().has_value());
  Rng rng(5);
  for (int i = 0; i < 20'000; ++i) {  // whatever comes
    const QueryId id = Number(rng.Uniform(20));
    switch (rng.Uniform(5)) {
      case 0:
        turns.Add(id);
        break;
      case 1:
        turns.Remove(id);
        break;
      case 2:
        turns.Wake(id);
        break;
      default:
        if (const auto next = turns.Next()) turns.Ran(*next, rng.Uniform(5'000'000), i % 3 > 0);
    }
  }
  for (uint64_t i = 0; i < 20; ++i) turns.Remove(Number(i));
  EXPECT_FALSE(turns.Next().has_value());
}

}  // namespace
}  // namespace koios::engine
