#include "planner/expression.h"

#include "gtest/gtest.h"
#include "parser/words.h"
#include "planner/steps/expressions/by.h"
#include "planner/value_type.h"

namespace koios::planner {
namespace {

const ExpressionPtr kName = PropertyOf(Current(), "name");

TEST(ExpressionTest, TraitsOfPartsCount) {
  const ExpressionPtr test = CallOf("eq", {kName, Named("a")});
  EXPECT_TRUE(IsStrict(*test));
  EXPECT_TRUE(IsPure(*test));
  EXPECT_TRUE(HasCallWith(*test, plan::kReadsStored));
  EXPECT_FALSE(IsCallWith(*test, plan::kReadsStored));
  EXPECT_TRUE(IsCall(*test, "eq"));
  EXPECT_FALSE(IsCall(*Current(), "eq"));
  const ExpressionPtr either = CallOf("or", {test, CallOf("once", {StringConstant("x")})});
  EXPECT_FALSE(IsStrict(*either));
  EXPECT_FALSE(IsPure(*either));
}

TEST(ExpressionTest, OnlyTheSameFunctionIsTheSameExpression) {
  EXPECT_TRUE(SameExpression(*CallOf("map_keys", {Current()}), *CallOf("map_keys", {Current()})));
  EXPECT_FALSE(
      SameExpression(*CallOf("map_keys", {Current()}), *CallOf("map_values", {Current()})));
}

TEST(ExpressionTest, WhatIsAlwaysThere) {
  TypeEnv env;
  env.names["a"] = {ValueType::kAny, true, false};
  EXPECT_TRUE(IsAlwaysThere(*CallOf("id", {Current()}), env));
  EXPECT_FALSE(IsAlwaysThere(*CallOf("id", {Named("b")}), env));
  EXPECT_TRUE(IsAlwaysThere(*CallOf("first_of", {kName, Named("a")}), env));
  EXPECT_FALSE(IsAlwaysThere(*CallOf("first_of", {Named("a"), kName}), env));
  EXPECT_TRUE(IsAlwaysThere(*CallOf("present", {kName}), env));
  EXPECT_FALSE(IsAlwaysThere(*kName, env));
}

// Tokens are functions of the same name: TokenOf relies on it.
TEST(ExpressionTest, EveryTokenIsAFunction) {
  const std::vector<std::string_view> tokens = parser::EnumWordsOf("T");
  EXPECT_FALSE(tokens.empty());
  for (const std::string_view token : tokens) {
    EXPECT_TRUE(IsCallWith(*TokenOf(token, Current()), plan::kStrict)) << token;
  }
}

}  // namespace
}  // namespace koios::planner
