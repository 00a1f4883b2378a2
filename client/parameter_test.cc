#include "client/parameter.h"

#include <gtest/gtest.h>

#include "core/print/value_print.h"

namespace koios::client {
namespace {

ValueKind KindOf(std::string_view text) {
  const auto value = ParseParameterValue(text);
  EXPECT_TRUE(value.ok()) << text << ": " << MessageOf(value.status());
  return value.ok() ? value->kind() : ValueKind::kNull;
}

TEST(ParameterTest, GremlinLiteralsKeepTheirTypes) {
  EXPECT_EQ(KindOf("1"), ValueKind::kInt);
  EXPECT_EQ(KindOf("1L"), ValueKind::kLong);
  EXPECT_EQ(KindOf("1.5f"), ValueKind::kFloat);
  EXPECT_EQ(KindOf("'text'"), ValueKind::kString);
  EXPECT_EQ(KindOf("[1, 'a']"), ValueKind::kList);
  EXPECT_EQ(KindOf("['a': 1]"), ValueKind::kMap);
  EXPECT_EQ(KindOf("true"), ValueKind::kBool);
  EXPECT_EQ(KindOf("null"), ValueKind::kNull);
}

TEST(ParameterTest, JsonIsTheOtherWay) {
  EXPECT_EQ(KindOf("{\"a\": [1, null]}"), ValueKind::kMap);
  EXPECT_EQ(KindOf("{\"a\": 12345678901}"), ValueKind::kMap);
  const auto value = ParseParameterValue("{\"a\": 12345678901, \"b\": 1.5}");
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(value->AsMap()[0].second.kind(), ValueKind::kLong);
  EXPECT_EQ(value->AsMap()[1].second.kind(), ValueKind::kDouble);
}

TEST(ParameterTest, NothingIsGuessedOrRun) {
  for (const char* text :
       {"marko", "", "1)", "1, 2", "1).drop(", "g.V()", "__.out()", "'a", "{\"a\":", "x y"}) {
    EXPECT_EQ(ParseParameterValue(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(ParameterTest, DeepJsonIsRefused) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "{\"a\":";
  EXPECT_FALSE(ParseParameterValue(text + "1" + std::string(100'000, '}')).ok());
}

TEST(ParameterTest, NameAndValueAreSplitAtTheFirstEquals) {
  const auto parameter = ParseParameter(" name = 'a=b' ");
  ASSERT_TRUE(parameter.ok());
  EXPECT_EQ(parameter->first, "name");
  EXPECT_EQ(parameter->second.AsString(), "a=b");
  EXPECT_FALSE(ParseParameter("name").ok());
  EXPECT_FALSE(ParseParameter("1x=1").ok());
  EXPECT_FALSE(ParseParameter("=1").ok());
}

}  // namespace
}  // namespace koios::client
