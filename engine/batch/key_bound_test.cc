#include "engine/batch/key_bound.h"

#include <string>

#include "gtest/gtest.h"

namespace koios::engine {
namespace {

// Each wrap makes it twice as large.
Value Doubled(int times) {
  Value value = Value::Int(1);
  for (int i = 0; i < times; ++i) value = *Value::List({value, value});
  return value;
}

TEST(KeyBoundTest, WhatStandsManyTimesOverCountsEachTime) {
  EXPECT_TRUE(CheckKey(Value::Int(1)).ok());
  EXPECT_TRUE(CheckKey(Value::String(std::string(1 << 20, 'x'))).ok());
  EXPECT_TRUE(CheckKey(Doubled(18)).ok());
  const Status refused = CheckKey(Doubled(60));
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(refused)->reason, "KEY_TOO_LARGE");
}

TEST(KeyBoundTest, OnlyKeysAreLookedAt) {
  Batch batch;
  batch.slots.resize(3);
  batch.slots[0].Append(Doubled(60));
  batch.slots[2].Append(Value::Int(7));
  batch.rows = 1;
  EXPECT_TRUE(CheckKeys(batch, {}).ok());
  EXPECT_TRUE(CheckKeys(batch, {1, 2, 9}).ok());
  EXPECT_EQ(CheckKeys(batch, {2, 0}).code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace koios::engine
