#include "core/arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/big_number.h"
#include "core/print/value_print.h"
#include "core/testing/make_value.h"
#include "core/testing/random_value.h"

namespace koios {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr float kMaxFloat = std::numeric_limits<float>::max();

Value BigInt(int64_t v) { return Value::Of(BigNumber::FromInteger(v)); }
Value Decimal(const char* text) { return Value::Of(*BigNumber::ParseDecimal(text)); }

// "Integer 3", or the code's name.
std::string Show(const StatusOr<Value>& v) {
  if (!v.ok()) return absl::StatusCodeToString(v.status().code());
  return std::string(KindName(v->kind())) + " " + PrintValue(*v);
}

std::string SumOf(const std::vector<Value>& values) {
  NumberSum sum;
  for (const Value& v : values) {
    const Status status = sum.Add(v);
    if (!status.ok()) return Show(status);
  }
  return Show(sum.Sum());
}

TEST(ArithmeticTest, ResultsHaveTheWiderClass) {
  EXPECT_EQ(Show(Add(Value::Byte(1), Value::Byte(2))), "Byte 3");
  EXPECT_EQ(Show(Add(Value::Byte(1), Value::Short(2))), "Short 3");
  EXPECT_EQ(Show(Add(Value::Int(1), Value::Long(2))), "Long 3");
  EXPECT_EQ(Show(Add(Value::Int(1), Value::Float(2))), "Float 3.0");
  EXPECT_EQ(Show(Add(Value::Long(1), Value::Float(2))), "Double 3.0");
  EXPECT_EQ(Show(Add(Value::Int(1), BigInt(2))), "BigInteger 3");
  EXPECT_EQ(Show(Add(BigInt(1), Value::Double(0.5))), "BigDecimal 1.5");
  EXPECT_EQ(Show(Add(Value::Int(1), Decimal("0.50"))), "BigDecimal 1.50");
}

TEST(ArithmeticTest, IntegersWidenUpToLongThenFail) {
  EXPECT_EQ(Show(Add(Value::Byte(127), Value::Byte(1))), "Short 128");
  EXPECT_EQ(Show(Subtract(Value::Short(-32'768), Value::Short(1))), "Integer -32769");
  EXPECT_EQ(Show(Multiply(Value::Int(INT32_MAX), Value::Int(2))), "Long 4294967294");
  EXPECT_EQ(Show(Multiply(Value::Byte(100), Value::Byte(100))), "Short 10000");
  EXPECT_EQ(Show(Add(Value::Long(INT64_MAX), Value::Int(1))), "INVALID_ARGUMENT");
  EXPECT_EQ(Show(Multiply(Value::Long(INT64_MIN), Value::Long(INT64_MIN))), "INVALID_ARGUMENT");
  EXPECT_EQ(Show(Divide(Value::Long(INT64_MIN), Value::Int(-1))), "INVALID_ARGUMENT");
  EXPECT_EQ(Show(Add(Value::Long(INT64_MAX), BigInt(1))), "BigInteger 9223372036854775808");
}

TEST(ArithmeticTest, RealsWidenToDouble) {
  EXPECT_EQ(Show(Add(Value::Float(kMaxFloat), Value::Float(kMaxFloat))),
            "Double 6.805646932770577E38");
  EXPECT_EQ(Show(Multiply(Value::Double(1e300), Value::Double(1e300))), "Double Infinity");
  EXPECT_EQ(Show(Add(Value::Double(kNaN), Value::Int(1))), "Double NaN");
  EXPECT_EQ(Show(Add(Value::Double(kNaN), Decimal("1"))), "Double NaN");
}

TEST(ArithmeticTest, Division) {
  EXPECT_EQ(Show(Divide(Value::Int(7), Value::Int(-2))), "Integer -3");
  EXPECT_EQ(Show(Divide(Value::Int(7), Value::Int(2), true)), "Float 3.5");
  EXPECT_EQ(Show(Divide(Value::Int(7), Value::Long(2), true)), "Double 3.5");
  EXPECT_EQ(Show(Divide(BigInt(7), Value::Long(2), true)), "BigDecimal 3.5");
  EXPECT_EQ(Show(Divide(Value::Int(1), Value::Int(0))), "INVALID_ARGUMENT");
  EXPECT_EQ(Show(Divide(BigInt(1), Value::Int(0))), "INVALID_ARGUMENT");
  EXPECT_EQ(Show(Divide(Value::Double(1), Value::Int(0))), "Double Infinity");
}

TEST(ArithmeticTest, NullsAndOthers) {
  EXPECT_EQ(Show(Add(Value::Int(1), Value::Null())), "Integer 1");
  EXPECT_EQ(Show(Add(Value::Null(), Value::Int(1))), "null null");
  EXPECT_EQ(Show(Add(Value::Int(1), Value::String("x"))), "INVALID_ARGUMENT");
  EXPECT_EQ(MessageOf(Add(Value::String("x"), Value::Int(1)).status()),
            "A String can't be added: only numbers can.");
}

TEST(MinMaxTest, NumbersPromoteOthersCompare) {
  EXPECT_EQ(Show(Max(Value::Int(29), Value::Double(0.5))), "Double 29.0");
  EXPECT_EQ(Show(Min(Value::Int(29), Value::Long(9'999'999'999))), "Long 29");
  EXPECT_EQ(Show(Min(Value::Byte(1), Value::Short(2))), "Short 1");
  EXPECT_EQ(Show(Max(Value::Int(1), BigInt(0))), "BigInteger 1");
  EXPECT_EQ(Show(Min(Value::Double(kNaN), Value::Int(1))), "Integer 1");
  EXPECT_EQ(Show(Max(Value::Int(1), Value::Double(kNaN))), "Integer 1");
  EXPECT_EQ(Show(Max(Value::Double(kNaN), Value::Double(kNaN))), "Double NaN");
  EXPECT_EQ(Show(Min(Value::Null(), Value::Int(1))), "Integer 1");
  EXPECT_EQ(Show(Min(Value::Null(), Value::Null())), "null null");
  EXPECT_EQ(Show(Min(Value::String("b"), Value::String("a"))), "String a");
  EXPECT_EQ(Show(Max(Value::String("b"), Value::String("a"))), "String b");
  EXPECT_EQ(Show(Min(Value::String("b"), Value::Int(1))), "INVALID_ARGUMENT");
  EXPECT_EQ(Show(Max(BigInt(1), Value::Double(std::numeric_limits<double>::infinity()))),
            "Double Infinity");
}

TEST(NumberSumTest, AsInTheSumScenarios) {
  EXPECT_EQ(SumOf({Value::Byte(127), Value::Byte(1)}), "Short 128");
  EXPECT_EQ(SumOf({Value::Short(-32'768), Value::Short(-1)}), "Integer -32769");
  EXPECT_EQ(SumOf({Value::Int(INT32_MAX), Value::Int(1)}), "Long 2147483648");
  EXPECT_EQ(SumOf({Value::Byte(1), Value::Byte(2), Value::Int(3)}), "Integer 6");
  EXPECT_EQ(SumOf({Value::Float(1), Value::Float(2), Value::Float(3)}), "Float 6.0");
  EXPECT_EQ(SumOf({Value::Int(123), BigInt(1000)}), "BigInteger 1123");
  EXPECT_EQ(SumOf({Value::Null(), Value::Int(10), Value::Int(5)}), "Integer 15");
  EXPECT_EQ(SumOf({Value::Null()}), "null null");
  EXPECT_EQ(SumOf({Value::String("x")}), "INVALID_ARGUMENT");
  EXPECT_EQ(SumOf({Value::Long(INT64_MAX), Value::Long(1)}), "INVALID_ARGUMENT");
  EXPECT_EQ(SumOf({Value::Long(INT64_MAX), Value::Long(1), Value::Long(-1)}),
            "Long 9223372036854775807");
  EXPECT_EQ(SumOf({Value::Float(kMaxFloat), Value::Float(kMaxFloat)}),
            "Double 6.805646932770577E38");
  EXPECT_EQ(SumOf({BigInt(1), Value::Double(0.5), Value::Int(2)}), "BigDecimal 3.5");
  EXPECT_EQ(SumOf({Decimal("1.50"), Value::Double(kNaN)}), "Double NaN");
}

TEST(NumberSumTest, MeanIsDoubleOrDecimal) {
  NumberSum ages;
  for (const int32_t age : {29, 27, 32, 35}) ages.AddInt(age);
  EXPECT_EQ(Show(ages.Mean()), "Double 30.75");
  EXPECT_EQ(Show(NumberSum().Mean()), "null null");
  NumberSum big;
  ASSERT_TRUE(big.Add(BigInt(1)).ok());
  big.AddLong(1, 2);
  EXPECT_EQ(Show(big.Mean()), "BigDecimal 1");
  ASSERT_TRUE(big.Add(Value::Int(1)).ok());
  big.AddLong(0);
  EXPECT_EQ(Show(big.Mean()), "BigDecimal 0.8");
}

TEST(NumberSumTest, BulkCounts) {
  NumberSum sum;
  sum.AddInt(2, 1'000);
  sum.AddDouble(0.5, 4);
  ASSERT_TRUE(sum.Add(Decimal("0.1"), 10).ok());
  EXPECT_EQ(sum.count(), 1'014);
  EXPECT_EQ(Show(sum.Sum()), "BigDecimal 2003.0");
  NumberSum huge;
  for (int i = 0; i < 8; ++i) huge.AddLong(INT64_MAX, INT64_MAX / 8);
  EXPECT_EQ(Show(huge.Sum()), "INVALID_ARGUMENT");
}

TEST(NumberSumTest, PartsMergeToTheSameAnswerInAnyOrder) {
  for (uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::RandomValues values(seed);
    NumberSum whole, parts[3];
    for (int i = 0; i < 6; ++i) {
      Value v = values.Number();
      // Reals are only equal up to rounding: leave them to the other tests.
      if (v.kind() == ValueKind::kFloat || v.kind() == ValueKind::kDouble) v = Value::Byte(1);
      const auto bulk = static_cast<int64_t>(1 + values.rng().Uniform(3));
      ASSERT_TRUE(whole.Add(v, bulk).ok());
      ASSERT_TRUE(parts[values.rng().Uniform(3)].Add(v, bulk).ok());
    }
    NumberSum merged;
    for (const int i : {2, 0, 1}) {
      const auto loaded = NumberSum::Load(Made(parts[i].Save()));
      ASSERT_TRUE(loaded.ok());
      ASSERT_TRUE(merged.Merge(*loaded).ok());
    }
    ASSERT_EQ(merged.count(), whole.count());
    ASSERT_EQ(Show(merged.Sum()), Show(whole.Sum()));
    ASSERT_EQ(Show(merged.Mean()), Show(whole.Mean()));
  }
}

TEST(NumberSumTest, DecimalsSeeFloatsAsTheDecimalsThatTheyPrint) {
  NumberSum sum, rest;
  ASSERT_TRUE(sum.Add(Value::Float(0.1f)).ok());
  ASSERT_TRUE(rest.Add(Value::Of(*BigNumber::ParseDecimal("1.00"))).ok());
  ASSERT_TRUE(rest.Add(Value::Float(0.2f)).ok());
  EXPECT_EQ(Show(sum.Sum()), Show(Value::Float(0.1f)));
  ASSERT_TRUE(sum.Merge(*NumberSum::Load(Made(rest.Save()))).ok());
  EXPECT_EQ(Show(sum.Sum()), Show(Value::Of(*BigNumber::ParseDecimal("1.30"))));
  ASSERT_TRUE(sum.Add(Value::Double(0.1)).ok());
  EXPECT_EQ(Show(sum.Sum()), Show(Value::Of(*BigNumber::ParseDecimal("1.40"))));
}

TEST(NumberSumTest, LoadChecksWhatItReads) {
  NumberSum sum;
  sum.AddInt(1);
  const ValueList good = Made(sum.Save()).AsList();
  for (size_t i = 0; i < good.size(); ++i) {
    ValueList bad = good;
    bad[i] = Value::String("x");
    EXPECT_EQ(NumberSum::Load(ListOf(bad)).status().code(), StatusCode::kDataLoss) << i;
  }
  ValueList bad = good;
  bad[1] = Value::Int(7);
  EXPECT_FALSE(NumberSum::Load(ListOf(bad)).ok());
  bad.pop_back();
  EXPECT_FALSE(NumberSum::Load(ListOf(bad)).ok());
  EXPECT_FALSE(NumberSum::Load(Value::Int(1)).ok());
}

}  // namespace
}  // namespace koios
