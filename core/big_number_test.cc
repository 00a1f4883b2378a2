#include "core/big_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/random.h"

namespace koios {
namespace {

BigNumber Integer(const char* text) { return *BigNumber::ParseInteger(text); }
BigNumber Parsed(const char* text) { return *BigNumber::ParseDecimal(text); }

std::string Print(const StatusOr<BigNumber>& v) {
  return v.ok() ? v->ToString() : MessageOf(v.status());
}

TEST(BigNumberTest, ParsesAndPrintsIntegers) {
  for (const char* text :
       {"0", "-1", "123456789012345678901234567890", "-10000000000000000000000"}) {
    EXPECT_EQ(Integer(text).ToString(), text);
  }
  EXPECT_EQ(Integer("+007").ToString(), "7");  // decimal, not octal
  EXPECT_EQ(Integer("-0").ToString(), "0");
  for (const char* text : {"", "-", "1.0", "1e3", "0x10", " 1", "--1", "1-"}) {
    EXPECT_EQ(BigNumber::ParseInteger(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(BigNumberTest, PrintsDecimalsAsJavaDoes) {
  // Source and what BigDecimal.toString() gives.
  const std::pair<const char*, const char*> cases[] = {
      {"1.50", "1.50"},      {"-0.5", "-0.5"},      {"100", "100"},       {"1e3", "1E+3"},
      {"12e3", "1.2E+4"},    {"2e-3", "0.002"},     {"1e-6", "0.000001"}, {"1e-7", "1E-7"},
      {"-12e-8", "-1.2E-7"}, {"0.00", "0.00"},      {"0e3", "0E+3"},      {"1.", "1"},
      {".5", "0.5"},         {"123.456", "123.456"}};
  for (const auto& [text, printed] : cases) {
    EXPECT_EQ(Parsed(text).ToString(), printed);
    EXPECT_EQ(Parsed(Parsed(text).ToString().c_str()), Parsed(text));
  }
  for (const char* text : {"", ".", "-", "e3", "1e", "1e+", "1e1.5", "1.2.3", "NaN", "1e+-3"}) {
    EXPECT_EQ(BigNumber::ParseDecimal(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(BigNumberTest, SizeIsBounded) {
  const std::string most(kMaxBigNumberDigits, '9');
  EXPECT_TRUE(BigNumber::ParseInteger(most).ok());
  EXPECT_EQ(BigNumber::ParseInteger(most + "9").status().code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(BigNumber::ParseDecimal("1e10000").ok());
  for (const char* text : {"1e10001", "1e-10001", "1e2147483647", "1e99999999999"}) {
    const Status status = BigNumber::ParseDecimal(text).status();
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << text;
    EXPECT_EQ(DetailOf(status)->limit, "10000 digits");
  }
  const BigNumber big = Integer(most.c_str());
  EXPECT_EQ(MultiplyNumbers(big, big).status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(AddNumbers(big, Integer("1")).status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(AddNumbers(Parsed("1e10000"), Parsed("1e-10000")).status().code(),
            StatusCode::kResourceExhausted);
}

TEST(BigNumberTest, CountsDigits) {
  BigNumber v = BigNumber::FromInteger(int64_t{1});
  for (int digits = 1; digits < 60; ++digits) {
    EXPECT_EQ(v.num_digits(), digits);
    BigNumber below = v;
    below.unscaled -= 1;
    EXPECT_EQ(below.num_digits(), std::max(1, digits - 1));
    v.unscaled *= 10;
  }
  EXPECT_EQ(BigNumber::FromInteger(int64_t{0}).num_digits(), 1);
  EXPECT_EQ(BigNumber::FromInteger(int64_t{-99}).num_digits(), 2);
}

TEST(BigNumberTest, FromAndToDouble) {
  EXPECT_EQ(BigNumber::FromDouble(0.1)->ToString(), "0.1");
  EXPECT_EQ(BigNumber::FromDouble(1.0)->ToString(), "1.0");
  EXPECT_EQ(BigNumber::FromDouble(1e23)->ToString(), "1.0E+23");
  EXPECT_FALSE(BigNumber::FromDouble(std::numeric_limits<double>::infinity()).has_value());
  EXPECT_EQ(BigNumber::FromDoubleExactly(0.5)->ToString(), "0.5" + std::string(52, '0'));
  EXPECT_TRUE(CompareNumbers(*BigNumber::FromDoubleExactly(0.1), Parsed("0.1")) > 0);
  Rng rng(1);
  for (int i = 0; i < 2'000; ++i) {
    const double v = std::ldexp(rng.Double() - 0.5, static_cast<int>(rng.Uniform(2'000)) - 1'000);
    EXPECT_EQ(BigNumber::FromDouble(v)->ToDouble(), v);
    EXPECT_EQ(BigNumber::FromDoubleExactly(v)->ToDouble(), v);
  }
  EXPECT_EQ(Parsed("1e9999").ToDouble(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Parsed("-1e9999").ToDouble(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(Parsed("1e-9999").ToDouble(), 0.0);
  EXPECT_EQ(Parsed("-1e-9999").ToDouble(), 0.0);
}

TEST(BigNumberTest, ToInt64) {
  EXPECT_EQ(Integer("-9223372036854775808").ToInt64(), INT64_MIN);
  EXPECT_FALSE(Integer("9223372036854775808").ToInt64().has_value());
  EXPECT_EQ(Parsed("2.00").ToInt64(), 2);
  EXPECT_EQ(Parsed("2e3").ToInt64(), 2'000);
  EXPECT_EQ(Parsed("0e9000").ToInt64(), 0);
  EXPECT_FALSE(Parsed("2.5").ToInt64().has_value());
  EXPECT_FALSE(Parsed("1e9999").ToInt64().has_value());
}

TEST(BigNumberTest, ComparesByValue) {
  EXPECT_EQ(CompareNumbers(Parsed("1.0"), Parsed("1.00")), 0);
  EXPECT_FALSE(Parsed("1.0") == Parsed("1.00"));
  EXPECT_EQ(CompareNumbers(Parsed("-1"), Parsed("1e-5")), -1);
  EXPECT_EQ(CompareNumbers(Parsed("1e3"), Integer("999")), 1);
  EXPECT_EQ(CompareNumbers(Integer("0"), Parsed("0.000")), 0);
}

TEST(BigNumberTest, Arithmetic) {
  EXPECT_EQ(Print(AddNumbers(Parsed("1.5"), Integer("2"))), "3.5");
  EXPECT_EQ(Print(SubtractNumbers(Integer("1"), Integer("3"))), "-2");
  EXPECT_EQ(Print(MultiplyNumbers(Parsed("1.5"), Parsed("0.20"))), "0.300");
  EXPECT_EQ(Print(DivideNumbers(Integer("-7"), Integer("2"))), "-3");
  EXPECT_EQ(Print(DivideNumbers(Parsed("1"), Parsed("8"))), "0.125");
  EXPECT_EQ(Print(DivideNumbers(Parsed("-6"), Parsed("-3"))), "2");
  EXPECT_EQ(Print(DivideNumbers(Parsed("1.00"), Parsed("4"))), "0.25");
  EXPECT_EQ(Print(DivideNumbers(Parsed("1"), Parsed("3"))), "0.3333333333");
  EXPECT_EQ(Print(DivideNumbers(Parsed("-2"), Parsed("3"))), "-0.6666666667");
  EXPECT_EQ(Print(DivideNumbers(Parsed("200"), Parsed("3"))), "66.6666666667");
  EXPECT_EQ(Print(DivideNumbers(Parsed("0"), Parsed("3"))), "0");
  EXPECT_EQ(DivideNumbers(Integer("1"), Parsed("0.0")).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(BigNumberTest, UnscaledBytesRoundTrip) {
  for (const char* text : {"0", "1", "-1", "255", "256", "-123456789012345678901234567890"}) {
    BigNumber v;
    ASSERT_TRUE(DecodeUnscaled(EncodeUnscaled(Integer(text)), &v)) << text;
    EXPECT_EQ(v.ToString(), text);
  }
}

}  // namespace
}  // namespace koios
