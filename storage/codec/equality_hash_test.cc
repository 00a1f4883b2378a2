// Numbers of all kinds, drawn so that many of two kinds are equal.
#include "storage/codec/equality_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/big_number.h"
#include "core/print/value_print.h"
#include "core/random.h"
#include "core/testing/rounds.h"
#include "core/value_compare.h"

namespace koios::storage {
namespace {

constexpr double kAnInt = 0x1p31;

// Of all exponents, whole and not, short in binary and in decimal, and beside what is a float.
double DrawnDouble(Rng* rng) {
  const auto small = static_cast<double>(static_cast<int64_t>(rng->Uniform(2001)) - 1000);
  switch (rng->Uniform(6)) {
    case 0:
      return small / std::pow(10.0, static_cast<double>(rng->Uniform(5)));
    case 1:
      return small / 8;
    case 2:
      return std::ldexp(1, static_cast<int>(rng->Uniform(70)) - 5) + small;
    case 3:
      return static_cast<double>(static_cast<int32_t>(rng->Next()));
    case 4:
      return std::bit_cast<float>(static_cast<uint32_t>(rng->Next()));
    default:
      return std::bit_cast<double>(rng->Next());
  }
}

// What is equal to `number`, what may be, and what is next to it.
std::vector<Value> Around(double number) {
  std::vector<Value> values = {Value::Double(number), Value::Double(-number)};
  if (std::abs(number) <= std::numeric_limits<float>::max()) {
    const auto real = static_cast<float>(number);
    for (const float next : {real, std::nextafterf(real, INFINITY), std::nextafterf(real, 0)}) {
      if (!std::isfinite(next)) continue;
      const BigNumber printed = *BigNumber::FromFloat(next);
      values.insert(values.end(), {Value::Float(next), Value::Double(next), Value::Of(printed),
                                   Value::Double(printed.ToDouble())});
    }
    // Between two floats, and what of decimals and integers is next to that.
    const double middle = (double{real} + double{std::nextafterf(real, INFINITY)}) / 2;
    if (std::isfinite(middle)) {
      values.push_back(Value::Double(middle));
      values.push_back(Value::Of(*BigNumber::FromDouble(middle)));
      if (std::abs(middle) < kAnInt) values.push_back(Value::Int(static_cast<int32_t>(middle)));
    }
  }
  if (std::isfinite(number)) {
    values.push_back(Value::Of(*BigNumber::FromDouble(number)));
    values.push_back(Value::Of(*BigNumber::FromDoubleExactly(number)));
  }
  if (std::abs(number) < 0x1p62) {
    const auto whole = static_cast<int64_t>(number);
    for (const int64_t next : {whole - 1, whole, whole + 1}) {
      values.push_back(Value::Long(next));
      values.push_back(Value::Of(BigNumber::FromInteger(next)));
      values.push_back(Value::Byte(static_cast<int8_t>(next)));
      values.push_back(Value::Short(static_cast<int16_t>(next)));
      values.push_back(Value::Int(static_cast<int32_t>(next)));
    }
  }
  return values;
}

std::vector<uint64_t> HashesOf(const Value& value) {
  std::vector<uint64_t> hashes;
  AppendEqualityHashes(value, &hashes);
  return hashes;
}

void ExpectAgreement(const Value& a, const Value& b) {
  SCOPED_TRACE(PrintValue(a) + " " + PrintValue(b));
  const std::vector<uint64_t> ones = HashesOf(a), others = HashesOf(b);
  const bool meet =
      std::find_first_of(ones.begin(), ones.end(), others.begin(), others.end()) != ones.end();
  EXPECT_LE(ones.size(), a.kind() == ValueKind::kFloat ? 130 : 1);
  if (Equals(a, b)) {
    ASSERT_EQ(EqualityHash(a), EqualityHash(b));
    ASSERT_TRUE(meet);
  }
  if (Equivalent(a, b)) {
    ASSERT_EQ(EquivalenceHash(a), EquivalenceHash(b));
  }
}

TEST(EqualityHashTest, OfEqualNumbersIsOne) {
  size_t equal = 0;
  for (uint64_t seed = 1; seed <= TestRounds(600, 200); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const std::vector<Value> values = Around(DrawnDouble(&rng));
    for (const Value& a : values) {
      for (const Value& b : values) {
        ASSERT_NO_FATAL_FAILURE(ExpectAgreement(a, b));
        equal += a.kind() != b.kind() && Equals(a, b);
      }
    }
  }
  EXPECT_GT(equal, 10'000);
}

TEST(EqualityHashTest, KnownNumbers) {
  const auto decimal = [](const char* text) {
    return Value::Of(BigNumber::ParseDecimal(text).value());
  };
  const Value tenth = Value::Float(0.1f);
  const uint64_t hash = EqualityHash(tenth);
  EXPECT_EQ(hash, EqualityHash(decimal("0.1")));
  EXPECT_EQ(hash, EqualityHash(decimal("0.100")));
  EXPECT_EQ(hash, EqualityHash(Value::Double(0.1f)));
  EXPECT_NE(hash, EqualityHash(Value::Double(0.2)));
  // Only a float is equal to both.
  EXPECT_EQ(EqualityHash(Value::Int(16'777'216)), EqualityHash(Value::Int(16'777'217)));
  EXPECT_NE(HashesOf(Value::Int(16'777'216)), HashesOf(Value::Int(16'777'217)));
  EXPECT_NE(EqualityHash(Value::Int(16'777'215)), EqualityHash(Value::Int(16'777'214)));
  // No float is compared with longs as floats.
  const int64_t far = int64_t{1} << 40;
  EXPECT_NE(EqualityHash(Value::Long(far)), EqualityHash(Value::Long(far + 1)));
}

TEST(EqualityHashTest, NumbersNextToEachOtherDiffer) {
  Rng rng(1);
  for (int i = 0; i < 1000; ++i) {
    const auto number = static_cast<int32_t>(rng.Next());
    ASSERT_NE(HashesOf(Value::Int(number)), HashesOf(Value::Int(number ^ 1)));
    ASSERT_NE(HashesOf(Value::Double(number + 0.1)), HashesOf(Value::Double(number + 0.2)));
  }
}

}  // namespace
}  // namespace koios::storage
