#include "storage/conflict/conflict_window.h"

#include <gtest/gtest.h>

#include "core/big_number.h"

namespace koios::storage {
namespace {

constexpr uint64_t kKey = 1;

TEST(ConflictWindow, DecidesAsTheRulesSay) {
  // What was recorded after the read version, what comes, whether it conflicts.
  struct Case {
    ConflictKeys before, now;
    bool conflict;
  };
  const ConflictKeys writes{{kKey}, {}, {}}, guards{{}, {kKey}, {}}, sets{{}, {}, {kKey}};
  const std::vector<Case> cases = {
      {writes, writes, true}, {writes, guards, true},  {writes, sets, false},
      {guards, writes, true}, {guards, guards, false}, {guards, sets, false},
      {sets, guards, true},   {sets, sets, false},
  };
  for (const Case& c : cases) {
    ConflictWindow window(5, 100);
    window.Record(c.before, 6);
    EXPECT_EQ(window.Validate(c.now, 5).code(),
              c.conflict ? StatusCode::kAborted : StatusCode::kOk);
    EXPECT_TRUE(window.Validate(c.now, 6).ok());  // it was read
    EXPECT_TRUE(window.Validate({{kKey + 1}, {kKey + 2}, {}}, 5).ok());
  }
}

TEST(ConflictWindow, RemembersABoundedNumberOfKeys) {
  ConflictWindow window(0, 10);
  for (uint64_t version = 1; version <= 100; ++version) {
    window.Record({{version % 7}, {1000 + version}, {}}, version);
    EXPECT_LE(window.size(), 11u);
  }
  EXPECT_EQ(window.floor(), 95u);
  EXPECT_EQ(window.Validate({{5000}, {}, {}}, 94).code(), StatusCode::kAborted);
  EXPECT_TRUE(window.Validate({{5000}, {}, {}}, 95).ok());
  EXPECT_EQ(window.Validate({{99 % 7}, {}, {}}, 98).code(), StatusCode::kAborted);
  EXPECT_EQ(window.Validate({{1096}, {}, {}}, 95).code(), StatusCode::kAborted);
}

TEST(ConflictWindow, ACommitLargerThanTheWindowForgetsAll) {
  ConflictWindow window(0, 2);
  window.Record({{1, 2, 3, 4}, {}, {}}, 1);
  EXPECT_EQ(window.size(), 0u);
  EXPECT_EQ(window.Validate({{9}, {}, {}}, 0).code(), StatusCode::kAborted);
  EXPECT_TRUE(window.Validate({{1}, {}, {}}, 1).ok());
}

TEST(ConflictWindow, ManyEdgesOfOneVertexAreFewKeys) {
  ConflictWindow window(0, 4);
  window.Record({{}, {5, 5, 5, 6}, {7, 7, 7, 7}}, 1);
  EXPECT_EQ(window.floor(), 0u);
  EXPECT_EQ(window.size(), 3u);
}

TEST(ConflictWindow, WhoIsBehindInTheTurnsIsRefusedAndToldWhy) {
  ConflictWindow window(0, 100);
  ConflictTurns turns;
  const std::vector<ClaimedKey> claim = {{kKey, Claim::kWrite}};
  ASSERT_TRUE(turns.Enter(1, claim, nullptr));
  CommitTurn turn;
  EXPECT_EQ(window.Validate({{kKey}, {}, {}}, 0, &turns, &turn).code(), StatusCode::kAborted);
  ASSERT_EQ(turn.conflicts.size(), 1u);
  EXPECT_EQ(turn.conflicts[0].key, kKey);
  EXPECT_EQ(turn.conflicts[0].claim, Claim::kWrite);
  EXPECT_EQ(window.Validate({{}, {}, {kKey}}, 0, &turns).code(), StatusCode::kAborted);
  EXPECT_TRUE(window.Validate({{kKey + 1}, {}, {}}, 0, &turns, &turn).ok());
  turn.ticket = 1;
  EXPECT_TRUE(window.Validate({{kKey}, {}, {}}, 0, &turns, &turn).ok());
  // Its turn does not help against what has changed since it read.
  window.Record({{kKey}, {}, {}}, 1);
  EXPECT_EQ(window.Validate({{kKey}, {}, {}}, 0, &turns, &turn).code(), StatusCode::kAborted);
}

// A look that decided an insert: two of them would not hold each other back as guards only.
TEST(ConflictWindow, AGuardThatIsSetTooIsToldAsBoth) {
  ConflictWindow window(0, 100);
  window.Record({{}, {}, {kKey}}, 1);
  CommitTurn turn;
  const ConflictKeys keys{{}, {kKey}, {kKey, kKey + 1}};
  EXPECT_EQ(window.Validate(keys, 0, nullptr, &turn).code(), StatusCode::kAborted);
  ConflictTurns turns;
  EXPECT_TRUE(turns.Enter(1, turn.conflicts, nullptr));
  EXPECT_FALSE(turns.Enter(2, turn.conflicts, nullptr));
}

TEST(ConflictWindow, WhatIsToldIsBounded) {
  ConflictWindow window(0, 10'000);
  ConflictKeys keys;
  for (uint64_t key = 0; key < 1000; ++key) keys.writes.push_back(key);
  window.Record(keys, 1);
  CommitTurn turn;
  EXPECT_EQ(window.Validate(keys, 0, nullptr, &turn).code(), StatusCode::kAborted);
  EXPECT_EQ(turn.conflicts.size(), kMaxConflictsTold);
}

TEST(ConflictWindow, LooksAtEdges) {
  const VertexRef a{1}, b{2};
  EXPECT_NE(ConflictKeyOfAdjacency(a, Direction::kOut, "l"),
            ConflictKeyOfAdjacency(a, Direction::kIn, "l"));
  EXPECT_NE(ConflictKeyOfAdjacency(a, Direction::kOut, "l"),
            ConflictKeyOfAdjacency(a, Direction::kOut, ""));
  EXPECT_NE(ConflictKeyOfEdgesBetween(a, b, "l"), ConflictKeyOfEdgesBetween(b, a, "l"));
  EXPECT_NE(ConflictKeyOfEdgesBetween(a, b, "l"), ConflictKeyOfEdgesBetween(a, b, "m"));
  EXPECT_NE(ConflictKeyOfVertexScan("l"), ConflictKeyOfEdgeScan("l"));
}

std::vector<uint64_t> KeysOfLookup(std::string_view label, std::string_view key,
                                   const Value& value) {
  std::vector<uint64_t> keys;
  AppendConflictKeysOfLookup(label, key, value, &keys);
  return keys;
}

TEST(ConflictWindow, EqualValuesAreOneLookup) {
  const std::vector<uint64_t> one = KeysOfLookup("l", "k", Value::Int(1));
  EXPECT_EQ(one.size(), 1);
  EXPECT_EQ(one, KeysOfLookup("l", "k", Value::Long(1)));
  EXPECT_EQ(one, KeysOfLookup("l", "k", Value::Double(1.0)));
  EXPECT_NE(one, KeysOfLookup("l", "k", Value::String("1")));
  EXPECT_NE(one, KeysOfLookup("", "k", Value::Int(1)));
  EXPECT_NE(one, KeysOfLookup("l", "j", Value::Int(1)));
  EXPECT_EQ(KeysOfLookup("l", "k", Value::Double(0.0)),
            KeysOfLookup("l", "k", Value::Double(-0.0)));
  EXPECT_NE(ConflictKeyOfVertex(VertexRef{1}), ConflictKeyOfEdge(1));
}

// Whoever looked for one of them and found nothing is told when the other one comes.
TEST(ConflictWindow, FloatsAreLookedUpAsWhatTheyEqual) {
  const Value tenth = Value::Of(BigNumber::ParseDecimal("0.1").value());
  for (const auto& [set, sought] : {std::pair(tenth, Value::Float(0.1f)),
                                    std::pair(Value::Int(16'777'217), Value::Float(0x1p24f)),
                                    std::pair(Value::Double(0.1f), Value::Float(0.1f))}) {
    for (const bool swapped : {false, true}) {
      ConflictWindow window(0, 1000);
      ConflictKeys keys;
      keys.sets = KeysOfLookup("l", "k", swapped ? sought : set);
      window.Record(keys, 5);
      ConflictKeys guards;
      guards.guards = KeysOfLookup("l", "k", swapped ? set : sought);
      EXPECT_FALSE(window.Validate(guards, 4).ok());
      EXPECT_TRUE(window.Validate(guards, 5).ok());
    }
  }
  // Numbers next to each other are set by two at once.
  EXPECT_NE(KeysOfLookup("l", "k", Value::Int(16'777'216)),
            KeysOfLookup("l", "k", Value::Int(16'777'217)));
}

TEST(ConflictWindow, RemembersRequestsAsLongAsTheirKeys) {
  ConflictWindow window(0, 12);
  for (uint64_t version = 1; version <= 50; ++version) {
    window.Record({{version}, {}, {}}, version, {1, version}, 2);
    EXPECT_EQ(window.Find({1, version})->version, version);
    EXPECT_EQ(window.Find({1, version})->attempt, 2u);
  }
  EXPECT_EQ(window.floor(), 46u);  // three keys' worth each
  EXPECT_FALSE(window.Find({1, 46}).has_value());
  EXPECT_TRUE(window.Find({1, 47}).has_value());
  EXPECT_FALSE(window.Find({2, 50}).has_value());
  // One that has more keys than are remembered is known all the same, as are those before it.
  ConflictKeys many;
  for (uint64_t key = 0; key < 20; ++key) many.writes.push_back(key);
  window.Record(many, 51, {1, 51}, 1);
  EXPECT_EQ(window.floor(), 51u);
  EXPECT_EQ(window.size(), 0u);
  EXPECT_TRUE(window.Find({1, 51}).has_value());
  EXPECT_TRUE(window.Find({1, 47}).has_value());
}

TEST(ConflictWindow, WhatNeverWasIsForgotten) {
  ConflictWindow window(0, 100);
  window.Record({{1}, {}, {}}, 1, {1, 1}, 1);
  window.Record({{2}, {}, {}}, 2, {1, 2}, 1);
  window.GoBackTo(1);
  EXPECT_TRUE(window.Find({1, 1}).has_value());
  EXPECT_FALSE(window.Find({1, 2}).has_value());
  EXPECT_TRUE(window.Validate({{2}, {}, {}}, 1).ok());
  EXPECT_EQ(window.Validate({{3}, {}, {}}, 0).code(), StatusCode::kAborted);
  window.Record({{2}, {}, {}}, 2, {1, 3}, 1);
  EXPECT_EQ(window.Validate({{2}, {}, {}}, 1).code(), StatusCode::kAborted);
}

}  // namespace
}  // namespace koios::storage
