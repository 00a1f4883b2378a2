#include "core/convert/number_text.h"

#include <gtest/gtest.h>

#include <string>

#include "core/print/value_print.h"

namespace koios {
namespace {

struct Case {
  std::string text;
  ValueKind kind;
  std::string printed;
};

TEST(NumberTextTest, TheSmallestKindThatHoldsItOrTheLetters) {
  const Case cases[] = {
      {"5", ValueKind::kInt, "5"},
      {"+5", ValueKind::kInt, "5"},
      {" \t7\n", ValueKind::kInt, "7"},
      {"-0", ValueKind::kInt, "0"},
      {"010", ValueKind::kInt, "8"},
      {"0x1F", ValueKind::kInt, "31"},
      {"-0x80000000", ValueKind::kInt, "-2147483648"},
      {"0x80000000", ValueKind::kLong, "2147483648"},
      {"0xFFFFFFFFFFFFFFFF", ValueKind::kBigInt, "18446744073709551615"},
      {"01777777777777777777777", ValueKind::kBigInt, "18446744073709551615"},
      {"2147483648", ValueKind::kLong, "2147483648"},
      {"-9223372036854775809", ValueKind::kBigInt, "-9223372036854775809"},
      {"5L", ValueKind::kLong, "5"},
      {"-5l", ValueKind::kLong, "-5"},
      {"9223372036854775808L", ValueKind::kBigInt, "9223372036854775808"},
      {"1.5", ValueKind::kFloat, "1.5"},
      {"5.", ValueKind::kFloat, "5.0"},
      {".5", ValueKind::kFloat, "0.5"},
      {"-0.0", ValueKind::kFloat, "-0.0"},
      {"1E3", ValueKind::kFloat, "1000.0"},
      {"16777217.0", ValueKind::kDouble, "1.6777217E7"},
      {"1.1234567890123", ValueKind::kDouble, "1.1234567890123"},
      {"1.12345678901234567890123", ValueKind::kBigDecimal, "1.12345678901234567890123"},
      {"1e400", ValueKind::kBigDecimal, "1E+400"},
      {"1e-400", ValueKind::kBigDecimal, "1E-400"},
      {"1.5f", ValueKind::kFloat, "1.5"},
      {"1e39F", ValueKind::kDouble, "1.0E39"},
      {"1e400f", ValueKind::kBigDecimal, "1E+400"},
      {"5d", ValueKind::kDouble, "5.0"},
      {"1.5D", ValueKind::kDouble, "1.5"},
  };
  for (const Case& c : cases) {
    const StatusOr<Value> value = NumberOfText(c.text);
    ASSERT_TRUE(value.ok()) << c.text << ": " << MessageOf(value.status());
    EXPECT_EQ(KindName(value->kind()), KindName(c.kind)) << c.text;
    EXPECT_EQ(PrintValue(*value), c.printed) << c.text;
  }
}

TEST(NumberTextTest, WhatIsNoNumber) {
  for (std::string_view text : {"",    " ",  "abc",   "08",   "1,000", "NaN",  "Infinity", "5n",
                                "5b",  "#5", "1e",    "1e+",  "1e5L",  "1.5L", "+5L",      "1.0.0",
                                "--5", "0x", "0x1.8", "017L", ".",     "e5",   "5 5",      "5ff"}) {
    const Status status = NumberOfText(text).status();
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_EQ(MessageOf(status), "Can't parse string '" + std::string(text) + "' as number.");
  }
  EXPECT_EQ(NumberOfText("1e20000").status().code(), absl::StatusCode::kResourceExhausted);
  for (const char* prefix : {"0x", "0"}) {
    EXPECT_EQ(NumberOfText(prefix + std::string(50'000, '7')).status().code(),
              absl::StatusCode::kResourceExhausted);
    const std::string zeros = prefix + std::string(50'000, '0');
    EXPECT_EQ(NumberOfText(zeros)->AsInteger(), 0);
    EXPECT_EQ(NumberOfText(zeros + "17")->AsInteger(), prefix[1] == 'x' ? 0x17 : 017);
    EXPECT_EQ(NumberOfText(zeros + std::string(30, '7'))->kind(), ValueKind::kBigInt);
  }
}

}  // namespace
}  // namespace koios
