#include "parser/printer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/testing/make_value.h"

namespace koios::parser {
namespace {

TEST(PrinterTest, ConstantsPrintAsLiterals) {
  EXPECT_EQ(ToText(Value::Null()), "null");
  EXPECT_EQ(ToText(Value::Bool(true)), "true");
  EXPECT_EQ(ToText(Value::Long(-5)), "-5L");
  EXPECT_EQ(ToText(Value::Double(std::nan(""))), "NaN");
  EXPECT_EQ(ToText(Value::Float(-std::numeric_limits<float>::infinity())), "-Infinity");
  EXPECT_EQ(ToText(Value::String("a\"b\\c\n\x01\xC3\xA9")), "\"a\\\"b\\\\c\\n\\u0001\xC3\xA9\"");
  EXPECT_EQ(ToText(Value::Of(Token::kLabel)), "T.label");
  EXPECT_EQ(ToText(Value::Of(Direction::kBoth)), "Direction.BOTH");
}

TEST(PrinterTest, CollectionsNest) {
  const Value list = ListOf({Value::Int(1), SetOf({Value::String("x")})});
  EXPECT_EQ(ToText(list), "[1, {\"x\"}]");
  EXPECT_EQ(ToText(MapOf({{Value::String("key"), list},
                          {Value::String("a key"), Value::Null()},
                          {Value::String("new"), Value::Int(1)},
                          {Value::Of(Token::kId), Value::Int(2)}})),
            "[key: [1, {\"x\"}], (\"a key\"): null, (\"new\"): 1, (T.id): 2]");
  EXPECT_EQ(ToText(MapOf({})), "[:]");
}

TEST(PrinterTest, WhatHasNoLiteralShowsItsKind) {
  EXPECT_EQ(ToText(Value::Of(VertexRef{1})), "<" + std::string(KindName(ValueKind::kVertex)) + ">");
}

TEST(PrinterTest, ShortTextIsCutAtACodePoint) {
  Call call;
  call.name = "has";
  call.arguments.emplace_back();
  call.arguments[0].literal = Value::String("\xC3\xA9\xC3\xA9\xC3\xA9");
  EXPECT_EQ(ToShortText(call, 100), ToText(call));
  EXPECT_EQ(ToShortText(call, 11), "has(\"\xC3\xA9...");
  EXPECT_EQ(ToShortText(call, 2), "...");
}

}  // namespace
}  // namespace koios::parser
