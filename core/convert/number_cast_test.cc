#include "core/convert/number_cast.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "core/big_number.h"
#include "core/print/value_print.h"
#include "core/value_compare.h"

namespace koios {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

Value Big(const char* text) { return Value::Of(*BigNumber::ParseInteger(text)); }
Value Exact(const char* text) {
  BigNumber number = *BigNumber::ParseDecimal(text);
  number.decimal = true;
  return Value::Of(std::move(number));
}

std::string Cast(const Value& number, ValueKind kind) {
  const StatusOr<Value> value = CastNumber(number, kind);
  if (!value.ok()) return std::string(MessageOf(value.status()));
  EXPECT_EQ(value->kind(), kind);
  return PrintValue(*value);
}

TEST(NumberCastTest, OneIsOneOfEveryKind) {
  const Value ones[] = {Value::Byte(1),  Value::Short(1),  Value::Int(1), Value::Long(1),
                        Value::Float(1), Value::Double(1), Big("1"),      Exact("1")};
  for (const Value& from : ones) {
    for (const Value& to : ones) {
      const StatusOr<Value> cast = CastNumber(from, to.kind());
      ASSERT_TRUE(cast.ok());
      EXPECT_EQ(cast->kind(), to.kind());
      EXPECT_TRUE(Equals(*cast, to));
    }
  }
}

TEST(NumberCastTest, FractionsAreCutOff) {
  for (const ValueKind kind : {ValueKind::kByte, ValueKind::kShort, ValueKind::kInt,
                               ValueKind::kLong, ValueKind::kBigInt}) {
    EXPECT_EQ(Cast(Value::Double(1.9), kind), "1");
    EXPECT_EQ(Cast(Value::Double(-1.9), kind), "-1");
    EXPECT_EQ(Cast(Value::Float(2.5f), kind), "2");
    EXPECT_EQ(Cast(Exact("-2.99"), kind), "-2");
    EXPECT_EQ(Cast(Exact("0.001"), kind), "0");
    EXPECT_EQ(Cast(Exact("1e2"), kind), "100");
  }
}

TEST(NumberCastTest, WhatDoesNotFit) {
  const auto text = [](const std::string& from, const std::string& to) {
    return "Can't convert number of type " + from + " to " + to + " due to overflow.";
  };
  EXPECT_EQ(Cast(Value::Int(32768), ValueKind::kShort), text("Integer", "Short"));
  EXPECT_EQ(Cast(Value::Int(-129), ValueKind::kByte), text("Integer", "Byte"));
  EXPECT_EQ(Cast(Value::Long(int64_t{1} << 31), ValueKind::kInt), text("Long", "Integer"));
  EXPECT_EQ(Cast(Value::Double(0x1p63), ValueKind::kLong), text("Double", "Long"));
  EXPECT_EQ(Cast(Value::Double(-1e19), ValueKind::kInt),
            "Can't convert number of type Double to Integer due to underflow.");
  EXPECT_EQ(Cast(Big("9223372036854775808"), ValueKind::kLong), text("BigInteger", "Long"));
  EXPECT_EQ(Cast(Exact("1e30"), ValueKind::kInt), text("BigDecimal", "Integer"));
  EXPECT_EQ(Cast(Value::Double(1e300), ValueKind::kFloat), text("Double", "Float"));
  EXPECT_EQ(Cast(Exact("1e400"), ValueKind::kDouble), text("BigDecimal", "Double"));
  EXPECT_EQ(Cast(Exact("1e400"), ValueKind::kFloat), text("BigDecimal", "Float"));
  EXPECT_EQ(Cast(Value::Double(-0x1p63), ValueKind::kLong), "-9223372036854775808");
}

TEST(NumberCastTest, NaNAndInfinitiesAreRealOnly) {
  const Value nan = Value::Double(std::numeric_limits<double>::quiet_NaN());
  const Value endless = Value::Double(kEndless);
  EXPECT_EQ(Cast(nan, ValueKind::kInt), "Can't convert NaN to Integer.");
  EXPECT_EQ(Cast(endless, ValueKind::kLong), "Can't convert floating point infinity to Long.");
  EXPECT_EQ(Cast(nan, ValueKind::kBigInt), "Can't convert NaN to BigInteger.");
  EXPECT_EQ(Cast(endless, ValueKind::kBigDecimal),
            "Can't convert floating point infinity to BigDecimal.");
  EXPECT_EQ(Cast(nan, ValueKind::kFloat), "NaN");
  EXPECT_EQ(Cast(Value::Float(static_cast<float>(-kEndless)), ValueKind::kDouble), "-Infinity");
}

TEST(NumberCastTest, RealsKeepTheDigitsThatTheyPrint) {
  EXPECT_EQ(Cast(Value::Float(0.1f), ValueKind::kDouble), "0.1");
  EXPECT_EQ(Cast(Value::Float(0.1f), ValueKind::kBigDecimal), "0.1");
  EXPECT_EQ(Cast(Value::Double(0.1), ValueKind::kBigDecimal), "0.1");
  EXPECT_EQ(Cast(Value::Double(0.1), ValueKind::kFloat), "0.1");
  EXPECT_EQ(Cast(Value::Double(-0.0), ValueKind::kFloat), "-0.0");
  EXPECT_EQ(Cast(Value::Int(7), ValueKind::kBigDecimal), "7");
  EXPECT_EQ(Cast(Big("7"), ValueKind::kBigDecimal), "7");
  EXPECT_EQ(Cast(Value::Double(1e22), ValueKind::kBigInt), "10000000000000000000000");
  // A float is rounded to once: between the two nearest ones is a double, which would be rounded.
  EXPECT_EQ(Cast(Exact("1.000000059604644775390626"), ValueKind::kFloat), "1.0000001");
  EXPECT_EQ(Cast(Value::Int(16777217), ValueKind::kFloat), "1.6777216E7");
}

}  // namespace
}  // namespace koios
