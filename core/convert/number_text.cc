#include "core/convert/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/big_number.h"
#include "core/print/number_print.h"
#include "core/text/text.h"

namespace koios {
namespace {

// A number's text, taken apart.
struct NumberPieces {
  bool negative = false;
  bool has_sign = false;
  int base = 10;
  bool decimal = false;     // has a point or an exponent
  bool is_zero = true;      // no digit before the exponent is another one
  std::string_view digits;  // without sign, prefix and letter; in base 10 with point and exponent
  char letter = '\0';       // one of l, f, d
};

bool HasOnlyDigits(std::string_view text, int base) {
  for (const char c : text) {
    const int digit = HexDigit(c);
    if (digit < 0 || digit >= base) return false;
  }
  return !text.empty();
}

// Digits, a point among them, then perhaps an exponent; what is behind them stays in `rest`. False:
// there is no digit, or none in the exponent.
bool TakeDecimal(std::string_view* rest, NumberPieces* pieces) {
  size_t at = 0, num_digits = 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < rest->size() && IsDigit((*rest)[at])) ++at;
    return at - begin;
  };
  num_digits = digits();
  if (at < rest->size() && (*rest)[at] == '.') {
    pieces->decimal = true;
    ++at;
    num_digits += digits();
  }
  if (num_digits == 0) return false;
  pieces->is_zero = rest->substr(0, at).find_first_of("123456789") == std::string_view::npos;
  if (at < rest->size() && ((*rest)[at] == 'e' || (*rest)[at] == 'E')) {
    pieces->decimal = true;
    ++at;
    if (at < rest->size() && ((*rest)[at] == '+' || (*rest)[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  pieces->digits = rest->substr(0, at);
  rest->remove_prefix(at);
  return true;
}

std::optional<NumberPieces> PiecesOf(std::string_view text) {
  NumberPieces pieces;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    pieces.has_sign = true;
    pieces.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.size() > 1 && text[0] == '0' && text.find('.') == std::string_view::npos) {
    if (text[1] == 'x' || text[1] == 'X') pieces.base = 16;
    if (IsDigit(text[1])) pieces.base = 8;
    if (pieces.base != 10) {
      pieces.digits = text.substr(pieces.base == 16 ? 2 : 1);
      if (!HasOnlyDigits(pieces.digits, pieces.base)) return std::nullopt;
      return pieces;
    }
  }
  if (!TakeDecimal(&text, &pieces)) return std::nullopt;
  if (text.empty()) return pieces;
  constexpr std::string_view kLetters = "lfdLFD";
  const size_t letter = text.size() == 1 ? kLetters.find(text[0]) : std::string_view::npos;
  if (letter == std::string_view::npos) return std::nullopt;
  pieces.letter = kLetters[letter % 3];
  // A long has no plus, no point and no exponent.
  const bool plus = pieces.has_sign && !pieces.negative;
  if (pieces.letter == 'l' && (pieces.decimal || plus)) return std::nullopt;
  return pieces;
}

StatusOr<Value> BigIntegerOf(const NumberPieces& pieces) {
  BigNumber number;
  if (pieces.base == 10) {
    ASSIGN_OR_RETURN(number, BigNumber::ParseInteger(pieces.digits));
  } else {
    // Of more digits than these, of three bits or four each, the first ones are too many already.
    constexpr size_t kLongest = 2 * kMaxBigNumberDigits;
    std::string_view significant = pieces.digits;
    significant.remove_prefix(significant.find_first_not_of('0'));
    const std::string digits(significant.substr(0, kLongest));
    number.unscaled = decltype(number.unscaled)((pieces.base == 16 ? "0x" : "0") + digits);
    RETURN_IF_ERROR(number.CheckBounds());
  }
  if (pieces.negative) number.unscaled = -number.unscaled;
  return Value::Of(std::move(number));
}

StatusOr<Value> IntegerOf(const NumberPieces& pieces) {
  const auto number = IntegerOfDigits(pieces.digits, pieces.negative, pieces.base);
  if (!number.has_value()) return BigIntegerOf(pieces);
  const bool small = *number >= std::numeric_limits<int32_t>::min() &&
                     *number <= std::numeric_limits<int32_t>::max();
  if (pieces.letter == 'l' || !small) return Value::Long(*number);
  return Value::Int(static_cast<int32_t>(*number));
}

StatusOr<Value> DecimalOf(const NumberPieces& pieces) {
  const std::string text = (pieces.negative ? "-" : "") + std::string(pieces.digits);
  const float narrow = *FloatOfDigits(text);
  const double wide = *DoubleOfDigits(text);
  const auto holds = [&](double v) { return std::isfinite(v) && (v != 0 || pieces.is_zero); };
  if (holds(narrow)) {
    const bool prints_alike = pieces.letter == '\0' && PrintFloat(narrow) == PrintDouble(wide);
    if (pieces.letter == 'f' || prints_alike) return Value::Float(narrow);
  }
  if (holds(wide) && pieces.letter != '\0') return Value::Double(wide);
  ASSIGN_OR_RETURN(BigNumber exact, BigNumber::ParseDecimal(text));
  if (holds(wide) && CompareNumbers(exact, *BigNumber::FromDouble(wide)) == 0) {
    return Value::Double(wide);
  }
  return Value::Of(std::move(exact));
}

}  // namespace

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string_view TrimBlanks(std::string_view text) {
  const auto is_blank = [](char c) { return c >= '\0' && c <= ' '; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<int64_t> IntegerOfDigits(std::string_view digits, bool negative, int base) {
  uint64_t magnitude = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, magnitude, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  constexpr uint64_t kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (magnitude > kMax + (negative ? 1 : 0)) return std::nullopt;
  return negative ? static_cast<int64_t>(~magnitude + 1) : static_cast<int64_t>(magnitude);
}

std::optional<double> DoubleOfDigits(const std::string& text) {
  double v = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, v);
  if (error == std::errc::result_out_of_range) return std::strtod(text.c_str(), nullptr);
  if (error != std::errc() || stop != end) return std::nullopt;
  return v;
}

std::optional<float> FloatOfDigits(const std::string& text) {
  float v = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, v);
  if (error == std::errc::result_out_of_range) return std::strtof(text.c_str(), nullptr);
  if (error != std::errc() || stop != end) return std::nullopt;
  return v;
}

StatusOr<Value> NumberOfText(std::string_view text) {
  const std::optional<NumberPieces> pieces = PiecesOf(TrimBlanks(text));
  if (pieces.has_value()) {
    const bool decimal = pieces->decimal || pieces->letter == 'f' || pieces->letter == 'd';
    return decimal ? DecimalOf(*pieces) : IntegerOf(*pieces);
  }
  constexpr size_t kLongest = 60;
  ErrorDetail detail;
  detail.reason = "BAD_NUMBER";
  return InvalidArgument(
      "Can't parse string '" + std::string(TruncateUtf8(text, kLongest)) + "' as number.", detail);
}

}  // namespace koios
