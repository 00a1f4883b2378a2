#include "core/schema.h"

#include <gtest/gtest.h>

namespace koios {
namespace {

TEST(NameTableTest, InternsDenselyFromOne) {
  NameTable table;
  EXPECT_EQ(table.Find("person"), kNoName);
  EXPECT_EQ(table.Intern("person"), 1u);
  EXPECT_EQ(table.Intern("knows"), 2u);
  EXPECT_EQ(table.Intern("person"), 1u);
  EXPECT_EQ(table.Find("knows"), 2u);
  EXPECT_EQ(table.Name(2), "knows");
  EXPECT_EQ(table.size(), 2u);
  const NameTable copy = table;
  EXPECT_EQ(copy.Find("person"), 1u);
}

TEST(NameTableTest, ACopyIsOnItsOwn) {
  NameTable table;
  table.Intern("a");
  const std::string& name = table.Name(1);
  NameTable copy = table;
  copy.Intern("b");
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.Find("b"), kNoName);
  for (int i = 0; i < 1000; ++i) table.Intern(std::to_string(i));
  EXPECT_EQ(copy.size(), 2u);
  EXPECT_EQ(name, "a");  // where it was
}

TEST(LabelCountsTest, AreAMapOfWhatThereIs) {
  LabelCounts counts = {{3, 5}, {2000, 7}};
  const LabelCounts before = counts;
  EXPECT_TRUE(counts == before);
  counts[2000] -= 7;
  counts[700] = 1;
  std::vector<LabelCounts::value_type> seen;
  for (const auto& [label, count] : counts) seen.emplace_back(label, count);
  EXPECT_EQ(seen, (std::vector<LabelCounts::value_type>{{3, 5}, {700, 1}}));
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_FALSE(counts.contains(2000));
  EXPECT_EQ(counts.Count(100'000), 0u);
  EXPECT_EQ(before.Count(2000), 7u);
  EXPECT_FALSE(counts == before);
  counts[700] = 0;
  counts[2000] = 7;
  EXPECT_TRUE(counts == before);
  EXPECT_TRUE(LabelCounts().empty());
}

TEST(LabelCountsTest, GrowthIsAdded) {
  LabelCounts before;
  for (LabelId label = 1; label < 2'000; label += 2) before[label] = label;
  LabelCounts now = before, all = before;
  now[1] = 0;
  now[2] = 7;
  now[5'000] = 1;
  now[1'001] += 3;
  all.AddGrowth(before, before);
  EXPECT_TRUE(all == before);
  all[1'001] += 10;
  all.AddGrowth(now, before);
  EXPECT_FALSE(all.contains(1));
  EXPECT_EQ(all.Count(2), 7u);
  EXPECT_EQ(all.Count(5'000), 1u);
  EXPECT_EQ(all.Count(1'001), 1'014u);
  EXPECT_EQ(all.Count(1'999), 1'999u);
}

TEST(SchemaTest, IndexesOfAllLabelsThatHaveThePropertyOrNone) {
  Schema schema;
  const LabelId person = 1, city = 2, knows = 3;
  const KeyId name = 1, age = 2;
  const std::vector<KeyId> by_name = {name}, by_age = {age}, by_both = {name, age};
  schema.vertex_indexes = {{7, {person, by_name, true, 0}},
                           {8, {city, by_name, true, 0}},
                           {9, {person, by_both, true, 0}},
                           {10, {person, by_age, false, 0}}};
  schema.vertex_counts = {{person, 3}, {city, 3}};
  schema.property_kinds.Set(person, name, ValueKind::kString);
  schema.property_kinds.Set(city, name, ValueKind::kString);
  schema.property_kinds.Set(knows, name, ValueKind::kString);
  using Ids = std::vector<IndexId>;
  const std::vector<LabelId> both = {city, person, city}, one = {person}, none = {};
  EXPECT_EQ(schema.ReadyIndexes(both, by_name), (Ids{7, 8}));
  EXPECT_EQ(schema.ReadyIndexes(none, by_name), (Ids{7, 8}));
  EXPECT_EQ(schema.ReadyIndexes(one, by_both), (Ids{9}));
  EXPECT_EQ(schema.ReadyIndexes(both, by_both), std::nullopt);
  EXPECT_EQ(schema.ReadyIndexes(none, by_both), std::nullopt);
  EXPECT_EQ(schema.ReadyIndexes(one, by_age), std::nullopt);  // being built
  EXPECT_EQ(schema.ReadyIndexes(none, by_age), std::nullopt);
  EXPECT_EQ(schema.FindIndex(person, by_age), 10u);
  EXPECT_EQ(IndexName("person", std::vector<std::string>{"name", "age"}), "person(name, age)");
}

TEST(NameTableDeathTest, UnknownIdsAreBugs) {
  NameTable table;
  EXPECT_DEATH(table.Name(0), "CHECK failed");
  EXPECT_DEATH(table.Name(1), "CHECK failed");
}

}  // namespace
}  // namespace koios
