#include "core/compare/order_prefix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/print/value_print.h"
#include "core/testing/random_value.h"
#include "core/testing/rounds.h"
#include "core/value_compare.h"

namespace koios {
namespace {

void ExpectInOrder(const Value& a, const Value& b) {
  const OrderPrefix p = OrderPrefixOf(a), q = OrderPrefixOf(b);
  if (p.kind != q.kind || p.bits >= q.bits) return;
  EXPECT_TRUE(TotalOrder(a, b) < 0) << PrintValue(a) << " " << PrintValue(b);
}

void ExpectAllInOrder(const ValueList& values) {
  for (const Value& a : values) {
    for (const Value& b : values) ExpectInOrder(a, b);
  }
}

Value At(int64_t seconds, int32_t nanos) {
  return Value::Of(DateTime{.seconds = seconds, .nanos = nanos, .offset_seconds = 3600});
}

TEST(OrderPrefixTest, NeverContradictsTheTotalOrder) {
  testing::RandomValues random(1);
  for (uint64_t round = 0; round < TestRounds(200, 50); ++round) {
    ValueList values;
    for (int i = 0; i < 60; ++i) values.push_back(random.Next());
    ExpectAllInOrder(values);
  }
}

TEST(OrderPrefixTest, AtTheEdges) {
  const double inf = std::numeric_limits<double>::infinity();
  ValueList numbers;
  for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{-1}, INT64_MAX, INT64_MAX - 1, INT64_MIN,
                          (int64_t{1} << 53) + 1, -(int64_t{1} << 53) - 1}) {
    numbers.push_back(Value::Long(n));
  }
  for (const double d : {0.0, -0.0, 0.5, -0.5, 0x1p53, 0x1p63, -0x1p63, inf, -inf, std::nan(""),
                         std::numeric_limits<double>::denorm_min()}) {
    numbers.push_back(Value::Double(d));
    numbers.push_back(Value::Float(static_cast<float>(d)));
  }
  ExpectAllInOrder(numbers);
  ExpectAllInOrder({Value::String(""), Value::String(std::string(1, '\0')), Value::String("a"),
                    Value::String("\xc3\xa9"), Value::String("12345678"), Value::String("1234567"),
                    Value::String("123456789"), Value::String("\xff\xff\xff\xff\xff\xff\xff\xff")});
  constexpr int64_t kLimit = int64_t{1} << 34;
  ValueList times;
  for (const int64_t at :
       {INT64_MIN, -kLimit - 1, -kLimit, int64_t{-1}, int64_t{0}, kLimit - 1, kLimit, INT64_MAX}) {
    for (const int32_t nanos : {0, 1, 2, 999'999'999}) times.push_back(At(at, nanos));
  }
  ExpectAllInOrder(times);
}

TEST(OrderPrefixTest, TellsMostValuesApart) {
  EXPECT_LT(OrderPrefixOf(Value::Int(1)).bits, OrderPrefixOf(Value::Double(1.5)).bits);
  EXPECT_LT(OrderPrefixOf(Value::String("abcdefg1")).bits,
            OrderPrefixOf(Value::String("abcdefg2")).bits);
  EXPECT_LT(OrderPrefixOf(At(5, 0)).bits, OrderPrefixOf(At(5, 2)).bits);
  EXPECT_EQ(OrderPrefixOf(Value::EmptyMap()).kind, OrderPrefix::Kind::kNone);
  EXPECT_EQ(OrderPrefixOf(Value::Null()).kind, OrderPrefix::Kind::kNone);
}

}  // namespace
}  // namespace koios
