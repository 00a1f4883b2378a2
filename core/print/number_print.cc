#include "core/print/number_print.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace koios {
namespace {

// `digits` are significant digits d1d2d3..., the number is d1.d2d3... * 10^exponent.
std::string Place(std::string_view digits, int exponent) {
  std::string out;
  if (exponent >= 7 || exponent < -3) {
    out.append(digits.substr(0, 1)).append(".");
    out.append(digits.size() > 1 ? digits.substr(1) : "0");
    out.append("E").append(std::to_string(exponent));
  } else if (exponent < 0) {
    out.append("0.").append(static_cast<size_t>(-exponent - 1), '0').append(digits);
  } else {
    const size_t whole = static_cast<size_t>(exponent) + 1;
    out.append(digits.substr(0, whole));
    if (digits.size() < whole) out.append(whole - digits.size(), '0');
    out.append(".").append(digits.size() > whole ? digits.substr(whole) : "0");
  }
  return out;
}

template <typename Real>
std::string Print(Real v) {
  if (std::isnan(v)) return "NaN";
  std::string sign = std::signbit(v) ? "-" : "";
  if (std::isinf(v)) return sign + "Infinity";
  if (v == 0) return sign + "0.0";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer) - 1, std::abs(v),
                                 std::chars_format::scientific);
  *end.ptr = '\0';
  const std::string_view text(buffer, static_cast<size_t>(end.ptr - buffer));
  const size_t e = text.find('e');
  std::string digits(text.substr(0, 1));
  if (e > 2) digits.append(text.substr(2, e - 2));
  return sign + Place(digits, std::atoi(buffer + e + 1));
}

}  // namespace

std::string PrintDouble(double v) { return Print(v); }
std::string PrintFloat(float v) { return Print(v); }

}  // namespace koios
