#include "storage/codec/value_place.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/big_number.h"
#include "core/print/value_print.h"
#include "core/random.h"
#include "core/testing/make_value.h"
#include "core/value_compare.h"

namespace koios::storage {
namespace {

std::string PlaceOf(const Value& value) {
  std::string place;
  AppendPlace(value, &place);
  return place;
}

Value Decimal(const std::string& text) { return Value::Of(BigNumber::ParseDecimal(text).value()); }
Value BigInt(const std::string& text) { return Value::Of(BigNumber::ParseInteger(text).value()); }

// All kinds, and numbers around every bound of exactness.
std::vector<Value> Values() {
  std::vector<Value> values = {
      Value::Bool(false),
      Value::Bool(true),
      Value::Byte(-1),
      Value::Short(7),
      Value::Int(0),
      Value::Char('a'),
      Value::Char(0x1F600),
      Value::Binary("ab"),
      Value::Binary(""),
      Value::Of(Uuid{1, 2}),
      Value::Of(Uuid{~uint64_t{0}, 2}),
      Value::Of(Uuid{1, ~uint64_t{0}}),
      Value::Of(DateTime{0, 0, 0}),
      Value::Of(DateTime{0, 1, 0}),
      Value::Of(DateTime{-1, 999, 0}),
      Value::Of(DateTime{0, 0, 3600}),
      Value::Of(DateTime{0, 0, -3600}),
      Value::Of(DateTime{int64_t{1} << 40, 0, 0}),
      Value::Of(Duration{-5, 3}),
      Value::Of(Duration{5, 0}),
      ListOf({Value::Int(1)}),
      ListOf({Value::Double(1.0)}),
      ListOf({}),
      Value::EmptyMap(),
      Value::EmptySet(),
      BigInt("5"),
      BigInt("9007199254740993"),
      BigInt("-99999999999999999999999999"),
      Decimal("0.1"),
      Decimal("0.10000000000000001"),
      Decimal("-0.1"),
      Decimal("1.5"),
      Decimal("16777217.0"),
      Decimal("5.00000000000000000000000001"),
      Decimal("1e400"),
      Decimal("-1e400"),
      Decimal("4.9"),
  };
  for (const double number :
       {0.0, -0.0, 0.1, -0.1, 1.0, 1.5, 5.0, 1e300, -1e300, 5e-324, 16777216.0, 16777217.0,
        9007199254740992.0, 9.3e18, -9.3e18, std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    values.push_back(Value::Double(number));
    values.push_back(Value::Float(static_cast<float>(number)));
  }
  for (const int64_t number : {int64_t{1}, int64_t{-1}, int64_t{5}, int64_t{16777215},
                               int64_t{16777216}, int64_t{16777217}, int64_t{16777218},
                               int64_t{16777219}, int64_t{2147483647}, int64_t{-2147483648}}) {
    values.push_back(Value::Int(static_cast<int32_t>(number)));
    values.push_back(Value::Long(number));
  }
  for (const int64_t number :
       {int64_t{9007199254740991}, int64_t{9007199254740992}, int64_t{9007199254740993},
        std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    values.push_back(Value::Long(number));
  }
  const std::string long_text(kMaxPlacedBytes, 'x');
  for (const std::string& text :
       {std::string(), std::string("a"), std::string("ab"), std::string("a\0", 2),
        std::string("a\0\0", 3), std::string("a\0b", 3), std::string("a\x01", 2),
        std::string("\0", 1), std::string("\xff\xff"), std::string("über"), std::string("zebra"),
        long_text, long_text + "a", long_text + "b", long_text.substr(1) + "y", long_text.substr(1),
        long_text + std::string("\0", 1)}) {
    values.push_back(Value::String(text));
    values.push_back(Value::Binary(text));
  }
  return values;
}

std::string Text(const Value& a, const Value& b) { return PrintValue(a) + " and " + PrintValue(b); }

TEST(ValuePlace, OfTwoThatCompareTheLesserIsNotBehind) {
  for (const Value& a : Values()) {
    for (const Value& b : Values()) {
      const auto order = Compare(a, b);
      if (!order.has_value() || *order == std::partial_ordering::unordered) continue;
      const Places of_a = PlacesOf(a, b.kind()), of_b = PlacesOf(b, a.kind());
      EXPECT_EQ(PlaceTag(of_a.first), PlaceTag(of_b.first)) << Text(a, b);
      if (*order == std::partial_ordering::less) {
        EXPECT_LE(PlaceOf(a), of_b.last) << Text(a, b);
        EXPECT_GE(PlaceOf(b), of_a.first) << Text(a, b);
      }
    }
  }
}

TEST(ValuePlace, EqualValuesAreWhereASeekLooks) {
  for (const Value& sought : Values()) {
    for (const Value& stored : Values()) {
      if (!Equals(stored, sought)) continue;
      for (const ValueKind kind : {ValueKind::kNull, stored.kind()}) {
        const Places places = PlacesOf(sought, kind);
        EXPECT_GE(PlaceOf(stored), places.first) << Text(stored, sought);
        EXPECT_LE(PlaceOf(stored), places.last) << Text(stored, sought);
      }
    }
  }
  EXPECT_EQ(PlaceOf(Value::Int(1)), PlaceOf(Value::Long(1)));
  EXPECT_EQ(PlaceOf(Value::Int(1)), PlaceOf(Value::Double(1.0)));
  EXPECT_EQ(PlaceOf(Value::Double(0.0)), PlaceOf(Value::Double(-0.0)));
  EXPECT_NE(PlaceOf(Value::Int(1)), PlaceOf(Value::String("1")));
  EXPECT_LT(PlaceOf(Value::Int(-2)), PlaceOf(Value::Double(-1.5)));
}

TEST(ValuePlace, WhatIsExactHasNothingElseInItsPlace) {
  size_t exact = 0;
  for (const Value& bound : Values()) {
    for (const Value& stored : Values()) {
      const Places places = PlacesOf(bound, stored.kind());
      const bool at_bound = places.first == places.last && PlaceOf(stored) == places.first;
      if (!at_bound || !PlaceIsExact(bound, stored.kind())) continue;
      ++exact;
      const auto order = Compare(stored, bound);
      EXPECT_FALSE(order == std::partial_ordering::less || order == std::partial_ordering::greater)
          << Text(stored, bound);
    }
  }
  EXPECT_GT(exact, 50u);
}

TEST(ValuePlace, NoneBeginsWithAnotherOne) {
  std::string none;
  AppendNoPlace(&none);
  std::vector<std::string> places = {none};
  for (const Value& value : Values()) places.push_back(PlaceOf(value));
  for (const std::string& a : places) {
    for (const std::string& b : places) EXPECT_TRUE(a == b || !b.starts_with(a));
  }
}

TEST(ValuePlace, PrefixesOfTextsAreOfTheirPlaces) {
  for (const Value& part : Values()) {
    if (part.kind() != ValueKind::kString) continue;
    const std::string prefix = PrefixOfPlaces(part.AsString());
    for (const Value& whole : Values()) {
      if (whole.kind() != ValueKind::kString) continue;
      if (whole.AsString().starts_with(part.AsString())) {
        EXPECT_TRUE(PlaceOf(whole).starts_with(prefix)) << Text(part, whole);
      } else if (part.AsString().size() <= kMaxPlacedBytes) {
        EXPECT_FALSE(PlaceOf(whole).starts_with(prefix)) << Text(part, whole);
      }
    }
  }
}

// A floating-point number taken from random bits, so that all exponents come.
TEST(ValuePlace, RandomNumbersStandInTheirOrder) {
  Rng rng(11);
  for (int i = 0; i < 20'000; ++i) {
    const auto any = [&]() -> Value {
      const uint64_t bits = rng.Next();
      switch (rng.Uniform(4)) {
        case 0:
          return Value::Long(static_cast<int64_t>(bits) >> rng.Uniform(64));
        case 1:
          return Value::Int(static_cast<int32_t>(bits) >> rng.Uniform(32));
        case 2:
          return Value::Float(static_cast<float>(
              std::ldexp(static_cast<double>(bits >> 40), static_cast<int>(rng.Uniform(60)) - 30)));
        default:
          return Value::Double(std::ldexp(static_cast<double>(static_cast<int64_t>(bits)),
                                          static_cast<int>(rng.Uniform(200)) - 100));
      }
    };
    const Value a = any(), b = any();
    const Places of_b = PlacesOf(b);
    if (Equals(a, b)) {
      EXPECT_TRUE(of_b.first <= PlaceOf(a) && PlaceOf(a) <= of_b.last) << Text(a, b);
    } else if (Compare(a, b) == std::partial_ordering::less) {
      EXPECT_LE(PlaceOf(a), of_b.last) << Text(a, b);
    } else {
      EXPECT_GE(PlaceOf(a), of_b.first) << Text(a, b);
    }
  }
}

}  // namespace
}  // namespace koios::storage
