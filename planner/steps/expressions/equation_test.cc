#include "planner/steps/expressions/equation.h"

#include <gtest/gtest.h>

namespace koios::planner {
namespace {

std::string Read(std::string_view text) {
  const StatusOr<ExpressionPtr> expression =
      EquationExpression(text, [](const std::string& name) { return Named(name); });
  return expression.ok() ? ExpressionText(**expression) : MessageOf(expression.status());
}

TEST(EquationTest, Precedence) {
  EXPECT_EQ(Read("a + b * c"), "plus(a, times(b, c))");
  EXPECT_EQ(Read("a - b - c"), "minus(minus(a, b), c)");
  EXPECT_EQ(Read("a ^ b ^ c"), "power(a, power(b, c))");
  EXPECT_EQ(Read("-a ^ b"), "negated(power(a, b))");
  EXPECT_EQ(Read("a ^ -b * c"), "times(power(a, negated(b)), c)");
  EXPECT_EQ(Read("-a * b % c / d"), "divided_by(modulo(times(negated(a), b), c), d)");
  EXPECT_EQ(Read("(a + b) * c"), "times(plus(a, b), c)");
  EXPECT_EQ(Read("[a + {b}] * c"), "times(plus(a, b), c)");
}

TEST(EquationTest, AFunctionWithoutBracketsTakesTheRest) {
  EXPECT_EQ(Read("sin a + b"), "math_sin(plus(a, b))");
  EXPECT_EQ(Read("sin(a) + b"), "plus(math_sin(a), b)");
  EXPECT_EQ(Read("2 * (sin a) + b"), "plus(times(2.0, math_sin(a)), b)");
}

TEST(EquationTest, Names) {
  EXPECT_EQ(*VariablesOf("b + a * b + _"), (std::vector<std::string>{"b", "a", "_"}));
  EXPECT_EQ(*VariablesOf("1 + 2.5"), std::vector<std::string>{});
  EXPECT_EQ(Read("logs + log(a)"), "plus(logs, math_log(a))");
}

TEST(EquationTest, WhatIsNoEquation) {
  for (const char* text :
       {"", " ", "a +", "a b", "(a", "a)", "(a]", "a + * b", "#", "1..2", "()"}) {
    EXPECT_EQ(VariablesOf(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(EquationTest, SizeAndDepthAreBounded) {
  EXPECT_TRUE(VariablesOf(std::string(30, '(') + "a" + std::string(30, ')')).ok());
  const std::string deep = std::string(100'000, '(') + "a" + std::string(100'000, ')');
  EXPECT_EQ(VariablesOf(deep).status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(VariablesOf(std::string(100'000, '-') + "a").status().code(),
            StatusCode::kResourceExhausted);
  std::string functions, sum = "a";
  for (int i = 0; i < 10'000; ++i) functions += "sin ";
  EXPECT_EQ(VariablesOf(functions + "a").status().code(), StatusCode::kResourceExhausted);
  for (int i = 0; i < 10'000; ++i) sum += " + a";
  EXPECT_EQ(VariablesOf(sum).status().code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace koios::planner
