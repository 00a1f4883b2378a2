#include "parser/literal.h"

#include <gtest/gtest.h>

#include <string>

#include "parser/printer.h"

namespace koios::parser {
namespace {

struct Case {
  std::string text;
  ValueKind kind;
  std::string printed;
};

TEST(LiteralTest, NumbersHaveTheTypeOfTheirSuffix) {
  const Case cases[] = {
      {"1", ValueKind::kInt, "1"},
      {"+1", ValueKind::kInt, "1"},
      {"-2147483648", ValueKind::kInt, "-2147483648"},
      {"2147483648", ValueKind::kLong, "2147483648L"},
      {"-9223372036854775808", ValueKind::kLong, "-9223372036854775808L"},
      {"9223372036854775808", ValueKind::kBigInt, "9223372036854775808n"},
      {"007", ValueKind::kInt, "7"},
      {"0xFF", ValueKind::kInt, "255"},
      {"-0x10L", ValueKind::kLong, "-16L"},
      {"-128b", ValueKind::kByte, "-128b"},
      {"32767s", ValueKind::kShort, "32767s"},
      {"7i", ValueKind::kInt, "7"},
      {"7L", ValueKind::kLong, "7L"},
      {"7l", ValueKind::kLong, "7L"},
      {"7n", ValueKind::kBigInt, "7n"},
      {"1.5", ValueKind::kDouble, "1.5"},
      {"-0.0", ValueKind::kDouble, "-0.0"},
      {"1d", ValueKind::kDouble, "1.0"},
      {"1e3", ValueKind::kDouble, "1000.0"},
      {"1.7976931348623157E+308d", ValueKind::kDouble, "1.7976931348623157E308"},
      {"1e999", ValueKind::kDouble, "Infinity"},
      {"1f", ValueKind::kFloat, "1.0f"},
      {"0.1f", ValueKind::kFloat, "0.1f"},
      {"1m", ValueKind::kBigDecimal, "1m"},
      {"-1.50m", ValueKind::kBigDecimal, "-1.50m"},
      {"-Infinity", ValueKind::kDouble, "-Infinity"},
  };
  for (const Case& c : cases) {
    const StatusOr<Value> value = ParseNumber(c.text);
    ASSERT_TRUE(value.ok()) << c.text << ": " << MessageOf(value.status());
    EXPECT_EQ(value->kind(), c.kind) << c.text;
    EXPECT_EQ(ToText(*value), c.printed) << c.text;
  }
}

TEST(LiteralTest, BadNumbersSayWhy) {
  for (std::string_view text : {"1x", "1.5b", "1e", "0x", "0x1.5", "1_000", "1ff", "0xFFm1"}) {
    const Status status = ParseNumber(text).status();
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_EQ(DetailOf(status)->reason, "BAD_NUMBER") << text;
  }
  for (std::string_view text : {"128b", "-32769s", "2147483648i", "9223372036854775808L"}) {
    const Status status = ParseNumber(text).status();
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_EQ(DetailOf(status)->reason, "NUMBER_RANGE") << text;
  }
  EXPECT_FALSE(ParseNumber(std::string(20'000, '1')).ok());
}

std::string Unescaped(std::string_view text) {
  size_t at = 0;
  const StatusOr<Value> value = ParseString(text, &at);
  return value.ok() ? value->AsString() : "error at " + std::to_string(at);
}

TEST(LiteralTest, StringsUnescape) {
  EXPECT_EQ(Unescaped("''"), "");
  EXPECT_EQ(Unescaped("'it \"is\"'"), "it \"is\"");
  EXPECT_EQ(Unescaped(R"("a\tb\n\r\f\b\\\'\"")"), "a\tb\n\r\f\b\\'\"");
  EXPECT_EQ(Unescaped(R"('\u00e9\uD83D\uDE00')"), "\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(Unescaped(R"('\101\0\377')"), std::string("A\0\xC3\xBF", 4));
  EXPECT_EQ(Unescaped("'a\\\nb'"), "ab");
}

TEST(LiteralTest, BadEscapesSayWhere) {
  EXPECT_EQ(Unescaped(R"('ab\d')"), "error at 3");
  EXPECT_EQ(Unescaped(R"('\u12')"), "error at 1");
  EXPECT_EQ(Unescaped(R"('\uD83D')"), "error at 1");
  EXPECT_EQ(Unescaped(R"('\uDE00')"), "error at 1");
  EXPECT_EQ(Unescaped(R"('\uD83Dx')"), "error at 1");
}

TEST(LiteralTest, Uuids) {
  const StatusOr<Uuid> uuid = ParseUuid("f47af10b-58cc-4372-A567-0f02b2f3d479");
  ASSERT_TRUE(uuid.ok());
  EXPECT_EQ(uuid->high, 0xf47af10b58cc4372u);
  EXPECT_EQ(uuid->low, 0xa5670f02b2f3d479u);
  for (std::string_view text :
       {"", "f47af10b58cc4372a5670f02b2f3d479", "f47af10b-58cc-4372-a567-0f02b2f3d47g",
        "f47af10b-58cc-4372-a567-0f02b2f3d4790"}) {
    EXPECT_FALSE(ParseUuid(text).ok()) << text;
  }
}

}  // namespace
}  // namespace koios::parser
