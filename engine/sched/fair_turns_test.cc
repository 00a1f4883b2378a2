#include "engine/sched/fair_turns.h"

#include <algorithm>
#include <map>
#include <string>

#include "core/random.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

using Turns = FairTurns<uint64_t>;

constexpr uint64_t kSlice = 300'000;

void AddReady(Turns* turns, uint64_t id) {
  turns->Add(id);
  turns->Wake(id);
}

// Lets those that are ready have slices, and adds up what each has had.
template <typename Group>
void GiveSlices(FairTurns<uint64_t, Group>* turns, int slices,
                const std::map<uint64_t, uint64_t>& slice_of, std::map<uint64_t, uint64_t>* had) {
  for (int i = 0; i < slices; ++i) {
    const std::optional<uint64_t> next = turns->Take();
    ASSERT_TRUE(next.has_value());
    const auto found = slice_of.find(*next);
    const uint64_t nanos = found == slice_of.end() ? kSlice : found->second;
    turns->Ran(*next, nanos, /*ready=*/true);
    (*had)[*next] += nanos;
  }
}

TEST(FairTurnsTest, WhoTakesLongerSlicesHasFewer) {
  Turns turns;
  for (uint64_t i = 0; i < 3; ++i) AddReady(&turns, i);
  std::map<uint64_t, uint64_t> had;
  GiveSlices(&turns, 10'000, {{0, 100'000}, {1, 300'000}, {2, 2'000'000}}, &had);
  const auto most = static_cast<double>(std::max({had[0], had[1], had[2]}));
  const auto least = static_cast<double>(std::min({had[0], had[1], had[2]}));
  EXPECT_LT(most / least, 1.02);
}

TEST(FairTurnsTest, AShortOneIsOverWhileLongOnesWait) {
  Turns turns;
  std::map<uint64_t, uint64_t> had;
  for (uint64_t i = 0; i < 64; ++i) AddReady(&turns, i);
  GiveSlices(&turns, 64 * 100, {}, &had);  // all are long by now
  AddReady(&turns, 100);
  int slices = 0;
  while (had[100] < 10 * kSlice) {
    GiveSlices(&turns, 1, {}, &had);
    ASSERT_LT(++slices, 1000);
  }
  EXPECT_LE(slices, 14);  // three of four
}

TEST(FairTurnsTest, TellsWhatOneHasHad) {
  FairTurns<int> turns;
  turns.Add(1, {}, 1000);
  turns.Wake(1);
  EXPECT_EQ(turns.Take(), 1);
  EXPECT_EQ(turns.Had(1), 1000u);
  turns.Ran(1, 5000, true);
  EXPECT_EQ(turns.Had(1), 6000u);
  EXPECT_EQ(turns.Had(2), 0u);
}

// However many short ones come, long ones have their quarter, and share it.
TEST(FairTurnsTest, NobodyStarves) {
  Turns turns;
  std::map<uint64_t, uint64_t> had;
  AddReady(&turns, 0);
  AddReady(&turns, 1);
  GiveSlices(&turns, 1000, {}, &had);
  const uint64_t first = had[0], second = had[1];
  uint64_t all = 0;
  for (uint64_t serial = 2; serial < 2000; ++serial) {
    AddReady(&turns, serial);
    GiveSlices(&turns, 3, {}, &had);
    all += 3 * kSlice;
    if (serial >= 10) turns.Remove(serial - 8);
  }
  EXPECT_GT(had[0] - first, all / 9);
  EXPECT_GT(had[1] - second, all / 9);
}

// The long have had the time to themselves, and were idle when the short came.
TEST(FairTurnsTest, LongOnesThatComeBackHaveTheirQuarter) {
  Turns turns;
  std::map<uint64_t, uint64_t> had;
  AddReady(&turns, 0);
  GiveSlices(&turns, 1000, {}, &had);
  ASSERT_EQ(turns.Take(), 0U);
  turns.Ran(0, kSlice, /*ready=*/false);
  const uint64_t before = had[0];
  AddReady(&turns, 1);
  turns.Wake(0);
  for (uint64_t serial = 2; serial < 400; ++serial) {
    AddReady(&turns, serial);
    GiveSlices(&turns, 2, {}, &had);
  }
  EXPECT_GT(had[0] - before, 400 * 2 * kSlice / 5);
}

// However long short ones have come and gone, who becomes long is one among those.
TEST(FairTurnsTest, WhoBecomesLongHasAsMuchAsOthersThatAre) {
  Turns turns;
  std::map<uint64_t, uint64_t> had;
  AddReady(&turns, 0);
  GiveSlices(&turns, 100, {}, &had);
  for (uint64_t serial = 1; serial <= 500; ++serial) {
    AddReady(&turns, serial);
    while (had[serial] < Turns::kShortNanos - kSlice) GiveSlices(&turns, 1, {}, &had);
    turns.Remove(serial);
  }
  AddReady(&turns, 1000);
  while (had[1000] < Turns::kShortNanos) GiveSlices(&turns, 1, {}, &had);
  const std::map<uint64_t, uint64_t> before = had;
  GiveSlices(&turns, 1000, {}, &had);
  EXPECT_NEAR(static_cast<double>(had[0] - before.at(0)),
              static_cast<double>(had[1000] - before.at(1000)), 3.0 * kSlice);
}

TEST(FairTurnsTest, WhoWasNotReadyCatchesUpOnNothing) {
  Turns turns;
  std::map<uint64_t, uint64_t> had;
  for (uint64_t i = 0; i < 2; ++i) AddReady(&turns, i);
  GiveSlices(&turns, 400, {}, &had);
  while (true) {
    const uint64_t next = turns.Take().value_or(2);
    turns.Ran(next, kSlice, /*ready=*/next != 1);
    if (next == 1) break;
  }
  GiveSlices(&turns, 1000, {}, &had);
  turns.Wake(1);
  turns.Wake(1);  // it is ready already
  const std::map<uint64_t, uint64_t> before = had;
  GiveSlices(&turns, 100, {}, &had);
  EXPECT_NEAR(static_cast<double>(had[0] - before.at(0)),
              static_cast<double>(had[1] - before.at(1)), 2.0 * kSlice);
}

// Who has more going on has no more time, be they short or long.
TEST(FairTurnsTest, GroupsShareWhateverTheyHave) {
  for (const uint64_t begin : {uint64_t{0}, Turns::kShortNanos}) {
    FairTurns<uint64_t, std::string> turns;
    const auto add = [&](uint64_t id, const std::string& group) {
      turns.Add(id, group, begin);
      turns.Wake(id);
    };
    for (uint64_t i = 0; i < 50; ++i) add(i, "many");
    std::map<uint64_t, uint64_t> had;
    GiveSlices(&turns, 10, {}, &had);
    add(100, "one");
    had.clear();
    GiveSlices(&turns, 60, {}, &had);
    EXPECT_NEAR(static_cast<double>(had[100]), 30.0 * kSlice, 2.0 * kSlice);
    // Within a group all have some.
    EXPECT_GE(had.size(), 25U);
  }
}

TEST(FairTurnsTest, SeveralTakeTurnsAtOnceButNotTooManyLongOnes) {
  Turns turns(/*most_long=*/2);
  for (uint64_t i = 0; i < 4; ++i) {
    turns.Add(i, {}, Turns::kShortNanos);
    turns.Wake(i);
  }
  const std::optional<uint64_t> first = turns.Take();
  ASSERT_TRUE(first.has_value());
  ASSERT_TRUE(turns.Take().has_value());
  EXPECT_FALSE(turns.HasNext());
  EXPECT_FALSE(turns.Take().has_value());
  AddReady(&turns, 7);
  EXPECT_EQ(turns.Take(), 7U);
  turns.Ran(*first, kSlice, /*ready=*/false);
  const std::optional<uint64_t> third = turns.Take();
  ASSERT_TRUE(third.has_value());
  EXPECT_NE(third, first);
  EXPECT_FALSE(turns.Take().has_value());
}

TEST(FairTurnsTest, WhatComesDuringATurnIsNotForgotten) {
  Turns turns;
  AddReady(&turns, 1);
  ASSERT_EQ(turns.Take(), 1U);
  EXPECT_FALSE(turns.Take().has_value());
  turns.Wake(1);
  EXPECT_FALSE(turns.Take().has_value());  // not twice at once
  turns.Ran(1, kSlice, /*ready=*/false);
  ASSERT_EQ(turns.Take(), 1U);
  turns.Remove(1);
  turns.Ran(1, kSlice, /*ready=*/true);
  EXPECT_FALSE(turns.Take().has_value());
  AddReady(&turns, 1);  // it was gone
  EXPECT_EQ(turns.Take(), 1U);
}

TEST(FairTurnsTest, WhatIsGoneHasNoTurn) {
  Turns turns;
  EXPECT_FALSE(turns.Take().has_value());
  AddReady(&turns, 1);
  turns.Remove(1);
  turns.Remove(1);
  turns.Wake(1);
  turns.Ran(1, kSlice, true);
  EXPECT_FALSE(turns.Take().has_value());
  Rng rng(5);
  for (int i = 0; i < 20'000; ++i) {  // whatever comes
    const uint64_t id = rng.Uniform(20);
    switch (rng.Uniform(5)) {
      case 0:
        AddReady(&turns, id);
        break;
      case 1:
        turns.Remove(id);
        break;
      case 2:
        turns.Wake(id);
        break;
      default:
        if (const auto next = turns.Take()) {
          if (i % 7 == 0) turns.Wake(id);
          if (i % 11 == 0) turns.Remove(id);
          turns.Ran(*next, rng.Uniform(5'000'000), i % 3 > 0);
        }
    }
  }
  for (uint64_t i = 0; i < 20; ++i) turns.Remove(i);
  EXPECT_FALSE(turns.Take().has_value());
}

}  // namespace
}  // namespace koios::engine
