#include "engine/expr/made_value.h"

#include "core/testing/make_value.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

TEST(MadeValueTest, TheLimitIsNamed) {
  EXPECT_TRUE(CheckMadeBytes(kMaxMadeBytes, "concat()").ok());
  const Status status = CheckMadeBytes(kMaxMadeBytes + 1, "concat()");
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(MessageOf(status).find("concat()"), std::string::npos);
  EXPECT_NE(DetailOf(status)->limit.find("67108864"), std::string::npos);
}

// A value that shares its parts is small in memory, and its text is not.
TEST(MadeValueTest, ATextIsNotMadePastTheLimit) {
  Value value = Value::String(std::string(1000, 'a'));
  for (int i = 0; i < 60; ++i) value = ListOf({value, value});
  EXPECT_EQ(MadeText(value, "asString()").status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(*MadeText(Value::Int(7), "asString()"), "7");
}

}  // namespace
}  // namespace koios::engine
