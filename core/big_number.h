// BigNumber: the integers and decimals without a fixed width (java.math's BigInteger and
// BigDecimal): unscaled * 10^-scale. The only header that sees Boost.Multiprecision.
// Bound: at most kMaxBigNumberDigits digits and a scale within +-kMaxBigNumberDigits; parsing,
// decoding and arithmetic refuse what is larger, so no operation on two numbers is expensive.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/status.h"

namespace koios {

inline constexpr int kMaxBigNumberDigits = 10'000;

struct BigNumber {
  boost::multiprecision::cpp_int unscaled;
  int32_t scale = 0;
  bool decimal = false;  // a BigDecimal even when scale is 0

  static BigNumber FromInteger(int64_t v);
  static BigNumber FromInteger(__int128 v);
  // The decimal that prints as the double does, as BigDecimal.valueOf. nullopt: NaN, infinities.
  static std::optional<BigNumber> FromDouble(double v);
  static std::optional<BigNumber> FromFloat(float v);  // likewise
  // The exact binary value of the double. nullopt: NaN, infinities.
  static std::optional<BigNumber> FromDoubleExactly(double v);
  // "-12": an integer.
  static StatusOr<BigNumber> ParseInteger(std::string_view text);
  // "-1.50", "2e-3": a decimal.
  static StatusOr<BigNumber> ParseDecimal(std::string_view text);

  // As Java prints it: digits; decimals with an exponent when the scale is negative or the number
  // is below 10^-6.
  std::string ToString() const;
  // The nearest double; infinite when out of range.
  double ToDouble() const;
  // nullopt when it has a fraction or does not fit.
  std::optional<int64_t> ToInt64() const;
  int num_digits() const;  // of the unscaled value; 1 for zero
  // RESOURCE_EXHAUSTED when past the bound.
  Status CheckBounds() const;

  // The same number in the same form: 1.0 and 1.00 differ.
  bool operator==(const BigNumber&) const = default;
};

// By value: -1, 0, 1.
int CompareNumbers(const BigNumber& a, const BigNumber& b);

// Results are decimals when one of the operands is. Scales as java.math.BigDecimal gives them.
StatusOr<BigNumber> AddNumbers(const BigNumber& a, const BigNumber& b);
StatusOr<BigNumber> SubtractNumbers(const BigNumber& a, const BigNumber& b);
StatusOr<BigNumber> MultiplyNumbers(const BigNumber& a, const BigNumber& b);
// Integers: towards zero. Decimals: exact when the quotient ends, else rounded half up to ten
// digits more than the operands have. By zero: INVALID_ARGUMENT.
StatusOr<BigNumber> DivideNumbers(const BigNumber& a, const BigNumber& b);

// Sign and magnitude: one byte (1: negative), then big-endian bytes without leading zeros.
std::string EncodeUnscaled(const BigNumber& v);
// False when the bytes are no such encoding or past the bound.
bool DecodeUnscaled(std::string_view bytes, BigNumber* v);

}  // namespace koios
