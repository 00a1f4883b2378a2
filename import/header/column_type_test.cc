#include "import/header/column_type.h"

#include <gtest/gtest.h>

#include <string>

#include "core/print/value_print.h"

namespace koios::import {
namespace {

// Kind and value as text, or "!" and why not.
std::string Parsed(const std::string& type_name, const std::string& text) {
  auto type = ParseColumnType(type_name);
  if (!type.ok()) return "unknown type";
  Value value;
  std::string why;
  if (!ParseField(*type, text, CsvOptions{}, &value, &why)) return "!" + why;
  return std::string(KindName(value.kind())) + " " + PrintValue(value);
}

TEST(ColumnTypeTest, NamesOfBothToolsInAnyCase) {
  for (const char* name :
       {"bool",     "Boolean",       "BYTE",   "short",      "int",       "Integer",
        "long",     "float",         "Double", "String",     "char",      "date",
        "datetime", "localdatetime", "time",   "localtime",  "duration",  "uuid",
        "point",    "string[]",      "INT[]",  "bigInteger", "bigdecimal"}) {
    EXPECT_TRUE(ParseColumnType(name).ok()) << name;
  }
  for (const char* name : {"", "text", "[]", "int[][]", "varchar"}) {
    EXPECT_EQ(ParseColumnType(name).status().code(), StatusCode::kInvalidArgument) << name;
  }
  EXPECT_TRUE(ParseColumnType("Long[]")->list);
}

TEST(ColumnTypeTest, WholeNumbersFitOrAreErrors) {
  EXPECT_EQ(Parsed("int", " 42 "), "Integer 42");
  EXPECT_EQ(Parsed("int", "+7"), "Integer 7");
  EXPECT_EQ(Parsed("byte", "-128"), "Byte -128");
  EXPECT_EQ(Parsed("byte", "128"), "!'128' is out of the range of byte");
  EXPECT_EQ(Parsed("int", "2147483648"), "!'2147483648' is out of the range of int");
  EXPECT_EQ(Parsed("long", "9223372036854775807"), "Long 9223372036854775807");
  EXPECT_EQ(Parsed("int", "1.5"), "!'1.5' is no int");
  EXPECT_EQ(Parsed("int", "+-1"), "!'+-1' is no int");
  EXPECT_EQ(Parsed("long", "0x10"), "!'0x10' is no long");
  EXPECT_EQ(Parsed("int", std::string(100, '9')),
            "!'" + std::string(40, '9') + "...' is out of the range of int");
}

TEST(ColumnTypeTest, RealNumbers) {
  EXPECT_EQ(Parsed("double", "1e-3"), "Double 0.001");
  EXPECT_EQ(Parsed("double", "NaN"), "Double NaN");
  EXPECT_EQ(Parsed("double", "-Infinity"), "Double -Infinity");
  EXPECT_EQ(Parsed("float", "0.5"), "Float 0.5");
  EXPECT_EQ(Parsed("double", "1,5"), "!'1,5' is no double");
}

TEST(ColumnTypeTest, TruthTextAndCharacters) {
  EXPECT_EQ(Parsed("bool", "TRUE"), "Boolean true");
  EXPECT_EQ(Parsed("bool", "yes"), "!'yes' is neither true nor false");
  EXPECT_EQ(Parsed("string", " kept as it is "), "String  kept as it is ");
  EXPECT_EQ(Parsed("char", "\xE2\x82\xAC").substr(0, 9), "Character");
  EXPECT_EQ(Parsed("char", "ab"), "!'ab' is not one character");
}

TEST(ColumnTypeTest, InstantsTimesAndDurations) {
  Value value;
  std::string why;
  ASSERT_TRUE(ParseScalar(ScalarType::kDateTime, "1970-01-02", &value, &why));
  EXPECT_EQ(value.AsDateTime(), (DateTime{86'400, 0, 0}));
  ASSERT_TRUE(ParseScalar(ScalarType::kDateTime, "1970-01-01T02:00:00.25+02:00", &value, &why));
  EXPECT_EQ(value.AsDateTime(), (DateTime{0, 250'000'000, 7200}));
  ASSERT_TRUE(ParseScalar(ScalarType::kDateTime, "1969-12-31T23:59Z", &value, &why));
  EXPECT_EQ(value.AsDateTime(), (DateTime{-60, 0, 0}));
  for (const char* bad :
       {"1970-13-01", "1970-02-30", "70-01-01", "1970-01-01T25:00", "1970-01-01T",
        "1970-01-01T10:00:00+1", "1970-01-01x", "1970-01-01T10:00:00.0000000001"}) {
    EXPECT_FALSE(ParseScalar(ScalarType::kDateTime, bad, &value, &why)) << bad;
  }
  EXPECT_EQ(Parsed("localtime", "14:05"), "String 14:05");
  EXPECT_EQ(Parsed("time", "24:00").substr(0, 1), "!");
  ASSERT_TRUE(ParseScalar(ScalarType::kDuration, "P1DT2H3M4.5S", &value, &why));
  EXPECT_EQ(value.AsDuration(), (Duration{86'400 + 7384, 500'000'000}));
  ASSERT_TRUE(ParseScalar(ScalarType::kDuration, "-PT0.25S", &value, &why));
  EXPECT_EQ(value.AsDuration(), (Duration{-1, 750'000'000}));
  for (const char* bad : {"P", "PT", "P1Y", "P1M", "1D", "PT1D", "P1H", "PT1.5H", "PT1S1M",
                          "PT99999999999999999999S"}) {
    EXPECT_FALSE(ParseScalar(ScalarType::kDuration, bad, &value, &why)) << bad;
  }
}

TEST(ColumnTypeTest, UuidsAndBigNumbers) {
  EXPECT_EQ(Parsed("uuid", "41D2E28A-20A4-4AB0-B379-D810DEDE3786"),
            "UUID 41d2e28a-20a4-4ab0-b379-d810dede3786");
  EXPECT_EQ(Parsed("uuid", "41d2e28a20a44ab0b379d810dede3786").substr(0, 1), "!");
  EXPECT_EQ(Parsed("biginteger", "123456789012345678901234567890"),
            "BigInteger 123456789012345678901234567890");
  EXPECT_EQ(Parsed("bigdecimal", "x").substr(0, 1), "!");
}

TEST(ColumnTypeTest, ListsSplitAtTheDelimiterUnlessEscaped) {
  EXPECT_EQ(Parsed("int[]", "1;2; 3"), "List [1,2,3]");
  EXPECT_EQ(Parsed("string[]", "a\\;b;c"), "List [a;b,c]");
  EXPECT_EQ(Parsed("int[]", "1;x"), "!item 2: 'x' is no int");
  CsvOptions options;
  options.max_list_items = 2;
  Value value;
  std::string why;
  EXPECT_FALSE(ParseField({ScalarType::kInt, true}, "1;2;3", options, &value, &why));
  EXPECT_EQ(why, "the list has more than 2 items");
}

}  // namespace
}  // namespace koios::import
