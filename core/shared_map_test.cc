#include "core/shared_map.h"

#include <gtest/gtest.h>

#include <map>

#include "core/random.h"

namespace koios {
namespace {

TEST(SharedMapTest, IsAMapWhateverIsAddedInWhateverOrder) {
  Rng rng(7);
  SharedMap<uint64_t, int> shared;
  std::map<uint64_t, int> plain;
  EXPECT_TRUE(shared.begin() == shared.end());
  for (int i = 0; i < 5000; ++i) {
    const uint64_t key = rng.Next() % 4000;
    shared.Set(key, i);
    plain[key] = i;
  }
  ASSERT_EQ(shared.size(), plain.size());
  auto it = shared.begin();
  for (const auto& [key, value] : plain) {
    ASSERT_FALSE(it == shared.end());
    EXPECT_EQ(*it, (std::pair<uint64_t, int>(key, value)));
    ++it;
  }
  EXPECT_TRUE(it == shared.end());
  for (uint64_t key = 0; key < 4002; ++key) {
    const auto expected = plain.lower_bound(key);
    const auto found = shared.lower_bound(key);
    ASSERT_EQ(found == shared.end(), expected == plain.end());
    EXPECT_TRUE(expected == plain.end() || found->first == expected->first);
    EXPECT_EQ(shared.find(key) == shared.end(), !plain.contains(key));
  }
}

TEST(SharedMapTest, ACopyKeepsWhatItHad) {
  SharedMap<int, int> map;
  for (int i = 0; i < 2000; ++i) map.Set(2 * i, i);
  const SharedMap<int, int> before = map;
  EXPECT_TRUE(before == map);
  for (int i = 0; i < 2000; ++i) map.Set(2 * i + 1, i);
  map.Set(0, 7);
  EXPECT_FALSE(before == map);
  EXPECT_EQ(before.size(), 2000u);
  EXPECT_EQ(before.find(0)->second, 0);
  EXPECT_TRUE(before.find(1) == before.end());
  SharedMap<int, int> again;
  for (int i = 1999; i >= 0; --i) again.Set(2 * i, i);
  EXPECT_TRUE(before == again);  // the same entries in other leaves
}

TEST(SharedMapTest, WhatIsNewIsFoundWithoutALookAtAll) {
  SharedMap<int, int> map;
  for (int i = 0; i < 20'000; ++i) map.Set(2 * i, i);
  const SharedMap<int, int> before = map;
  int visited = 0;
  map.ForEachNew(before, [&](const auto&) { ++visited; });
  EXPECT_EQ(visited, 0);
  map.Set(9'001, -1);
  map.Set(50'000, -2);
  map.Set(0, -3);
  std::map<int, int> found;
  map.ForEachNew(before, [&](const auto& entry) {
    ++visited;
    if (entry.second < 0) found.insert(entry);
  });
  EXPECT_EQ(found, (std::map<int, int>{{0, -3}, {9'001, -1}, {50'000, -2}}));
  EXPECT_LE(visited, 3 * 257);
}

}  // namespace
}  // namespace koios
