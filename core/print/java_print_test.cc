#include "core/print/java_print.h"

#include "core/testing/make_value.h"
#include "gtest/gtest.h"

namespace koios {
namespace {

std::string InJava(const Value& value) { return PrintAsJava(value, 1000); }

TEST(JavaPrintTest, WhatNestsIsPrintedAsCollectionsOfJava) {
  const Value one = Value::Int(1), text = Value::String("a");
  EXPECT_EQ(InJava(text), "a");
  EXPECT_EQ(InJava(Value::Double(29)), "29.0");
  EXPECT_EQ(InJava(ListOf({one, Value::Null(), text})), "[1, null, a]");
  EXPECT_EQ(InJava(MapOf({{text, ListOf({one})}, {one, text}})), "{a=[1], 1=a}");
  EXPECT_EQ(InJava(Value::EmptyMap()), "{}");
  EXPECT_EQ(InJava(PathOf({{one, text}, {}})), "path[1, a]");
}

TEST(JavaPrintTest, ALongTextIsLeftOffJustPastItsBound) {
  const Value many = ListOf(ValueList(100'000, Value::String("abc")));
  const std::string text = PrintAsJava(many, 50);
  EXPECT_GT(text.size(), 50);
  EXPECT_LT(text.size(), 70);
}

}  // namespace
}  // namespace koios
