#include "core/big_number.h"

#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/print/number_print.h"

namespace koios {
namespace {

using boost::multiprecision::cpp_int;

constexpr double kBitsPerDigit = 3.321928094887362;
constexpr size_t kMaxMagnitudeBytes =
    static_cast<size_t>(kMaxBigNumberDigits * kBitsPerDigit / 8) + 1;

cpp_int PowerOfTen(int exponent) {
  return boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(exponent));
}

// False unless `text` is one digit or more.
bool AllDigits(std::string_view text) {
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return !text.empty();
}

cpp_int FromDigits(std::string_view digits) {
  const size_t first = digits.find_first_not_of('0');  // a leading zero would mean octal
  if (first == std::string_view::npos) return 0;
  return cpp_int(std::string(digits.substr(first)));
}

Status NotANumber(std::string_view text) {
  const std::string shown(text.substr(0, 40));
  return InvalidArgument("'" + shown + "' is not a number.");
}

Status TooLarge(std::string used) {
  ErrorDetail detail;
  detail.reason = "NUMBER_TOO_LARGE";
  detail.limit = std::to_string(kMaxBigNumberDigits) + " digits";
  detail.used = std::move(used);
  detail.hint = "Use a double where the exact digits are not needed.";
  return ResourceExhausted("A number has more than " + std::to_string(kMaxBigNumberDigits) +
                               " digits, which is the fixed limit for big numbers.",
                           detail);
}

// Both unscaled values at the larger of the two scales.
struct Aligned {
  cpp_int a, b;
  int32_t scale;
};
Aligned Align(const BigNumber& a, const BigNumber& b) {
  Aligned result{a.unscaled, b.unscaled, std::max(a.scale, b.scale)};
  if (a.scale < result.scale) result.a *= PowerOfTen(result.scale - a.scale);
  if (b.scale < result.scale) result.b *= PowerOfTen(result.scale - b.scale);
  return result;
}

StatusOr<BigNumber> Checked(BigNumber v) {
  RETURN_IF_ERROR(v.CheckBounds());
  return v;
}

// n / d rounded half away from zero.
cpp_int RoundedQuotient(const cpp_int& n, const cpp_int& d) {
  cpp_int quotient, remainder;
  boost::multiprecision::divide_qr(n, d, quotient, remainder);
  if (abs(remainder) * 2 >= abs(d)) quotient += (n < 0) == (d < 0) ? 1 : -1;
  return quotient;
}

// The number of factors `factor` in *v, which loses them.
int TakeFactors(int factor, cpp_int* v) {
  int count = 0;
  while (*v % factor == 0) {
    *v /= factor;
    ++count;
  }
  return count;
}

BigNumber RoundedDecimalQuotient(const BigNumber& a, const BigNumber& b) {
  const int precision = std::max(a.num_digits(), b.num_digits()) + 10;
  BigNumber result;
  result.decimal = true;
  int shift = precision - a.num_digits() + b.num_digits();
  for (;; --shift) {  // at most two rounds: the quotient has `precision` digits or one more
    const cpp_int n = shift > 0 ? cpp_int(a.unscaled * PowerOfTen(shift)) : a.unscaled;
    const cpp_int d = shift < 0 ? cpp_int(b.unscaled * PowerOfTen(-shift)) : b.unscaled;
    result.unscaled = RoundedQuotient(n, d);
    if (result.num_digits() <= precision) break;
  }
  result.scale = a.scale - b.scale + shift;
  const int32_t scale = std::max({a.scale, b.scale, 10});
  if (result.scale > scale) {
    result.unscaled = RoundedQuotient(result.unscaled, PowerOfTen(result.scale - scale));
    result.scale = scale;
  }
  return result;
}

}  // namespace

BigNumber BigNumber::FromInteger(int64_t v) {
  BigNumber result;
  result.unscaled = v;
  return result;
}

BigNumber BigNumber::FromInteger(__int128 v) {
  BigNumber result;
  result.unscaled = v;
  return result;
}

std::optional<BigNumber> BigNumber::FromDouble(double v) {
  if (!std::isfinite(v)) return std::nullopt;
  auto parsed = ParseDecimal(PrintDouble(v));
  CHECK(parsed.ok());
  return std::move(parsed).value();
}

std::optional<BigNumber> BigNumber::FromFloat(float v) {
  if (!std::isfinite(v)) return std::nullopt;
  auto parsed = ParseDecimal(PrintFloat(v));
  CHECK(parsed.ok());
  return std::move(parsed).value();
}

std::optional<BigNumber> BigNumber::FromDoubleExactly(double v) {
  if (!std::isfinite(v)) return std::nullopt;
  int exponent = 0;
  const double fraction = std::frexp(v, &exponent);
  BigNumber result;
  result.decimal = true;
  result.unscaled = static_cast<int64_t>(std::ldexp(fraction, 53));
  exponent -= 53;
  if (exponent >= 0) {
    result.unscaled <<= static_cast<unsigned>(exponent);
  } else if (result.unscaled != 0) {
    result.unscaled *= boost::multiprecision::pow(cpp_int(5), static_cast<unsigned>(-exponent));
    result.scale = -exponent;
  }
  return result;
}

StatusOr<BigNumber> BigNumber::ParseInteger(std::string_view text) {
  std::string_view digits = text;
  const bool negative = !digits.empty() && digits[0] == '-';
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.remove_prefix(1);
  if (!AllDigits(digits)) return NotANumber(text);
  if (digits.size() > kMaxBigNumberDigits) return TooLarge(std::to_string(digits.size()));
  BigNumber result;
  result.unscaled = FromDigits(digits);
  if (negative) result.unscaled = -result.unscaled;
  return result;
}

StatusOr<BigNumber> BigNumber::ParseDecimal(std::string_view text) {
  std::string_view mantissa = text;
  int32_t exponent = 0;
  const size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos) {
    mantissa = text.substr(0, e);
    std::string_view digits = text.substr(e + 1);
    if (digits.starts_with("+") && !digits.starts_with("+-")) digits.remove_prefix(1);
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (digits.empty() || end.ptr != digits.data() + digits.size()) return NotANumber(text);
    if (end.ec == std::errc::result_out_of_range) return TooLarge("exponent out of range");
    if (end.ec != std::errc()) return NotANumber(text);
  }
  const bool negative = !mantissa.empty() && mantissa[0] == '-';
  if (!mantissa.empty() && (mantissa[0] == '-' || mantissa[0] == '+')) mantissa.remove_prefix(1);
  const size_t point = mantissa.find('.');
  std::string digits(mantissa.substr(0, point));
  int64_t scale = -int64_t{exponent};
  if (point != std::string_view::npos) {
    digits.append(mantissa.substr(point + 1));
    scale += static_cast<int64_t>(mantissa.size() - point - 1);
  }
  if (!AllDigits(digits)) return NotANumber(text);
  if (digits.size() > kMaxBigNumberDigits || std::abs(scale) > kMaxBigNumberDigits) {
    return TooLarge(std::to_string(digits.size()) + " digits, scale " + std::to_string(scale));
  }
  BigNumber result;
  result.decimal = true;
  result.scale = static_cast<int32_t>(scale);
  result.unscaled = FromDigits(digits);
  if (negative) result.unscaled = -result.unscaled;
  return result;
}

std::string BigNumber::ToString() const {
  if (!decimal && scale == 0) return unscaled.str();
  std::string digits = cpp_int(abs(unscaled)).str();
  const std::string sign = unscaled < 0 ? "-" : "";
  const int adjusted = static_cast<int>(digits.size()) - 1 - scale;
  if (scale == 0) return sign + digits;
  if (scale > 0 && adjusted >= -6) {
    const size_t places = static_cast<size_t>(scale);
    if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
    digits.insert(digits.size() - places, ".");
    return sign + digits;
  }
  if (digits.size() > 1) digits.insert(1, ".");
  if (adjusted == 0) return sign + digits;
  return sign + digits + "E" + (adjusted > 0 ? "+" : "") + std::to_string(adjusted);
}

double BigNumber::ToDouble() const {
  const std::string text = unscaled.str() + "e" + std::to_string(-int64_t{scale});
  double result = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), result);
  if (end.ec != std::errc::result_out_of_range) return result;
  if (num_digits() - int64_t{scale} < 0) return unscaled < 0 ? -0.0 : 0.0;
  const double infinity = std::numeric_limits<double>::infinity();
  return unscaled < 0 ? -infinity : infinity;
}

std::optional<int64_t> BigNumber::ToInt64() const {
  cpp_int whole = unscaled;
  if (scale < 0) {
    if (num_digits() - scale > 19 && unscaled != 0) return std::nullopt;
    whole *= PowerOfTen(-scale);
  } else if (scale > 0) {
    const cpp_int power = PowerOfTen(scale);
    if (whole % power != 0) return std::nullopt;
    whole /= power;
  }
  if (whole < std::numeric_limits<int64_t>::min() || whole > std::numeric_limits<int64_t>::max()) {
    return std::nullopt;
  }
  return static_cast<int64_t>(whole);
}

int BigNumber::num_digits() const {
  const cpp_int magnitude = abs(unscaled);
  if (magnitude == 0) return 1;
  const int low = static_cast<int>(static_cast<double>(msb(magnitude)) / kBitsPerDigit);
  return magnitude >= PowerOfTen(low + 1) ? low + 2 : magnitude >= PowerOfTen(low) ? low + 1 : low;
}

Status BigNumber::CheckBounds() const {
  if (unscaled != 0 && msb(abs(unscaled)) / 8 >= kMaxMagnitudeBytes) {
    return TooLarge("more than that");
  }
  const int digits = num_digits();
  if (digits > kMaxBigNumberDigits || std::abs(int64_t{scale}) > kMaxBigNumberDigits) {
    return TooLarge(std::to_string(digits) + " digits, scale " + std::to_string(scale));
  }
  return OkStatus();
}

int CompareNumbers(const BigNumber& a, const BigNumber& b) {
  if (a.scale == b.scale) return a.unscaled.compare(b.unscaled) < 0 ? -1 : a.unscaled > b.unscaled;
  const int sign_a = a.unscaled.sign(), sign_b = b.unscaled.sign();
  if (sign_a != sign_b) return sign_a < sign_b ? -1 : 1;
  const Aligned v = Align(a, b);
  return v.a < v.b ? -1 : v.a > v.b;
}

StatusOr<BigNumber> AddNumbers(const BigNumber& a, const BigNumber& b) {
  Aligned v = Align(a, b);
  return Checked(BigNumber{v.a + v.b, v.scale, a.decimal || b.decimal});
}

StatusOr<BigNumber> SubtractNumbers(const BigNumber& a, const BigNumber& b) {
  Aligned v = Align(a, b);
  return Checked(BigNumber{v.a - v.b, v.scale, a.decimal || b.decimal});
}

StatusOr<BigNumber> MultiplyNumbers(const BigNumber& a, const BigNumber& b) {
  return Checked(BigNumber{a.unscaled * b.unscaled, a.scale + b.scale, a.decimal || b.decimal});
}

StatusOr<BigNumber> DivideNumbers(const BigNumber& a, const BigNumber& b) {
  if (b.unscaled == 0) return InvalidArgument("A number is divided by zero.");
  if (!a.decimal && !b.decimal) return BigNumber{a.unscaled / b.unscaled, 0, false};
  if (a.unscaled == 0) return Checked(BigNumber{0, a.scale - b.scale, true});
  // The quotient ends exactly when the reduced divisor has no prime factors but 2 and 5.
  const cpp_int common = gcd(abs(a.unscaled), abs(b.unscaled));
  cpp_int n = a.unscaled / common, d = b.unscaled / common;
  if (d < 0) {
    n = -n;
    d = -d;
  }
  cpp_int rest = d;
  const int twos = TakeFactors(2, &rest);
  const int fives = TakeFactors(5, &rest);
  if (rest != 1) return Checked(RoundedDecimalQuotient(a, b));
  const int places = std::max(twos, fives);
  return Checked(BigNumber{n * PowerOfTen(places) / d, a.scale - b.scale + places, true});
}

std::string EncodeUnscaled(const BigNumber& v) {
  std::string out(1, v.unscaled < 0 ? '\1' : '\0');
  if (v.unscaled != 0) {
    boost::multiprecision::export_bits(cpp_int(abs(v.unscaled)), std::back_inserter(out), 8);
  }
  return out;
}

bool DecodeUnscaled(std::string_view bytes, BigNumber* v) {
  if (bytes.empty() || static_cast<unsigned char>(bytes[0]) > 1) return false;
  const bool negative = bytes[0] == '\1';
  bytes.remove_prefix(1);
  if (bytes.size() > kMaxMagnitudeBytes) return false;
  if (bytes.empty()) {
    if (negative) return false;
    v->unscaled = 0;
    return true;
  }
  if (bytes[0] == '\0') return false;
  const auto* first = reinterpret_cast<const unsigned char*>(bytes.data());
  boost::multiprecision::import_bits(v->unscaled, first, first + bytes.size(), 8);
  if (negative) v->unscaled = -v->unscaled;
  return true;
}

}  // namespace koios
