#include "engine/account/values_left.h"

#include <string>

#include "core/value_compare.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

constexpr size_t kMembers = 50'000;

std::string LongText(size_t i) { return "a text that is not a short one " + std::to_string(i); }

ValueList Texts(size_t count) {
  ValueList texts;
  for (size_t i = 0; i < count; ++i) texts.push_back(Value::String(LongText(i)));
  return texts;
}

// Calls until nothing is left; the bytes that they gave back.
struct Calls {
  size_t count = 0;
  int64_t freed = 0;
  int64_t most = 0;
};
Calls FreeAll(ValuesLeft* left) {
  Calls calls;
  for (bool all = false; !all; ++calls.count) {
    const int64_t before = calls.freed;
    all = left->FreeSome(&calls.freed);
    calls.most = std::max(calls.most, calls.freed - before);
  }
  return calls;
}

TEST(ValuesLeftTest, ALongListIsFreedInShares) {
  const auto list = *Value::List(Texts(kMembers));
  const auto bytes = static_cast<int64_t>(list.ByteSize());
  ValuesLeft left;
  left.Add(Texts(kMembers));
  const Calls calls = FreeAll(&left);
  EXPECT_GT(calls.count, 20u);
  EXPECT_NEAR(static_cast<double>(calls.freed), static_cast<double>(bytes), 0.01 * bytes);
}

TEST(ValuesLeftTest, WhatIsInAValueIsFreedInShares) {
  ValueMap map;
  for (size_t i = 0; i < kMembers; ++i) {
    map.emplace_back(Value::Long(static_cast<int64_t>(i)),
                     *Value::List({Value::String(LongText(i))}));
  }
  ValueList outer;
  outer.push_back(*Value::List({*Value::Map(std::move(map)), *Value::Set(Texts(kMembers))}));
  const auto bytes = static_cast<int64_t>(outer[0].ByteSize());
  ValuesLeft left;
  left.Add(std::move(outer));
  const Calls calls = FreeAll(&left);
  EXPECT_GT(calls.count, 50u);
  // The room of one list at most beside a share.
  EXPECT_LT(calls.most, 4 << 20);
  EXPECT_NEAR(static_cast<double>(calls.freed), static_cast<double>(bytes), 0.01 * bytes);
}

TEST(ValuesLeftTest, WhatSomebodyElseHasStaysWhole) {
  const Value shared = *Value::List(Texts(kMembers));
  ValuesLeft left;
  left.Add({shared, *Value::List({shared, Value::Int(1)})});
  FreeAll(&left);
  ASSERT_EQ(shared.AsList().size(), kMembers);
  EXPECT_EQ(shared.AsList().back().AsString(), LongText(kMembers - 1));
}

TEST(ValuesLeftTest, NothingIsFreeAtOnce) {
  ValuesLeft left;
  EXPECT_EQ(FreeAll(&left).count, 1u);
  left.Add(ValueList());
  left.Add(ValueMap());
  EXPECT_EQ(FreeAll(&left).freed, 0);
}

TEST(ValuesLeftTest, AnExtentThatIsAddedUpIsThatOfAll) {
  MembersExtent extent;
  ValueMap map;
  for (size_t i = 0; i < 100; ++i) {
    map.emplace_back(Value::String(LongText(i)), *Value::List(Texts(i)));
    extent.Add(map.back().first);
    extent.Add(map.back().second);
  }
  const Value whole = *Value::Map(map);
  const Value added = *Value::Map(map, extent);
  EXPECT_TRUE(Equivalent(whole, added));
  EXPECT_EQ(whole.ByteSize(), added.ByteSize());
  EXPECT_EQ(whole.FlatBytes(), added.FlatBytes());
  EXPECT_EQ(whole.depth(), added.depth());
}

}  // namespace
}  // namespace koios::engine
