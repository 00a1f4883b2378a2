#include "parser/literal.h"

#include <limits>
#include <optional>
#include <string>

#include "core/big_number.h"
#include "core/convert/number_text.h"
#include "core/text/text.h"

namespace koios::parser {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The start of a long text, for messages.
std::string Shown(std::string_view text) {
  constexpr size_t kLongest = 40;
  if (text.size() <= kLongest) return "\"" + std::string(text) + "\"";
  return "\"" + std::string(text.substr(0, kLongest)) + "...\"";
}

Status LiteralError(std::string_view reason, std::string message, std::string hint) {
  ErrorDetail detail;
  detail.reason = std::string(reason);
  detail.hint = std::move(hint);
  return InvalidArgument(message, detail);
}

Status NotANumber(std::string_view text) {
  return LiteralError("BAD_NUMBER", Shown(text) + " is not a number.",
                      "numbers are 1, 1L, 1b, 1s, 1i, 1n, 1.0, 1.0f, 1.0d, 1.0m, 1e10, 0xFF");
}

Status OutOfRange(std::string_view text, std::string_view type) {
  return LiteralError("NUMBER_RANGE",
                      Shown(text) + " does not fit the type " + std::string(type) + ".",
                      "use a wider type: L for 64 bits, n for any integer, m for any decimal");
}

struct NumberParts {
  bool negative = false;
  bool hexadecimal = false;
  bool decimal = false;     // has a point or an exponent
  std::string_view digits;  // without sign, prefix and suffix
  char suffix = '\0';       // in lower case
};

// nullopt when the text is not sign, digits, point, digits, exponent, suffix.
std::optional<NumberParts> SplitNumber(std::string_view text) {
  NumberParts parts;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    parts.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  size_t i = 0;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    parts.hexadecimal = true;
    text.remove_prefix(2);
    while (i < text.size() && HexDigit(text[i]) >= 0) ++i;
  } else {
    while (i < text.size() && IsDigit(text[i])) ++i;
  }
  if (i == 0) return std::nullopt;
  if (!parts.hexadecimal) {
    if (i + 1 < text.size() && text[i] == '.' && IsDigit(text[i + 1])) {
      parts.decimal = true;
      for (++i; i < text.size() && IsDigit(text[i]);) ++i;
    }
    size_t e = i;
    if (e < text.size() && Lower(text[e]) == 'e') {
      ++e;
      if (e < text.size() && (text[e] == '-' || text[e] == '+')) ++e;
      if (e < text.size() && IsDigit(text[e])) {
        parts.decimal = true;
        for (i = e; i < text.size() && IsDigit(text[i]);) ++i;
      }
    }
  }
  parts.digits = text.substr(0, i);
  text.remove_prefix(i);
  if (text.size() > 1) return std::nullopt;
  if (text.size() == 1) parts.suffix = Lower(text[0]);
  return parts;
}

// With its sign; nullopt when it does not fit 64 bits.
std::optional<int64_t> ToInt64(const NumberParts& parts) {
  return IntegerOfDigits(parts.digits, parts.negative, parts.hexadecimal ? 16 : 10);
}

StatusOr<Value> BigInteger(const NumberParts& parts) {
  const std::optional<int64_t> small = ToInt64(parts);
  if (small.has_value()) return Value::Of(BigNumber::FromInteger(*small));
  if (parts.hexadecimal) return OutOfRange(parts.digits, "Long, as hexadecimal numbers must");
  const std::string sign = parts.negative ? "-" : "";
  ASSIGN_OR_RETURN(BigNumber number, BigNumber::ParseInteger(sign + std::string(parts.digits)));
  return Value::Of(std::move(number));
}

template <typename Narrow>
bool Fits(std::optional<int64_t> v) {
  return v.has_value() && *v >= std::numeric_limits<Narrow>::min() &&
         *v <= std::numeric_limits<Narrow>::max();
}

StatusOr<Value> Integer(std::string_view text, const NumberParts& parts) {
  const std::optional<int64_t> v = ToInt64(parts);
  switch (parts.suffix) {
    case '\0':
      if (Fits<int32_t>(v)) return Value::Int(static_cast<int32_t>(*v));
      if (v.has_value()) return Value::Long(*v);
      return BigInteger(parts);
    case 'b':
      if (!Fits<int8_t>(v)) return OutOfRange(text, "Byte");
      return Value::Byte(static_cast<int8_t>(*v));
    case 's':
      if (!Fits<int16_t>(v)) return OutOfRange(text, "Short");
      return Value::Short(static_cast<int16_t>(*v));
    case 'i':
      if (!Fits<int32_t>(v)) return OutOfRange(text, "Integer");
      return Value::Int(static_cast<int32_t>(*v));
    case 'l':
      if (!v.has_value()) return OutOfRange(text, "Long");
      return Value::Long(*v);
    case 'n':
      return BigInteger(parts);
    default:
      return NotANumber(text);
  }
}

StatusOr<Value> Decimal(std::string_view text, const NumberParts& parts) {
  const std::string digits = (parts.negative ? "-" : "") + std::string(parts.digits);
  if (parts.suffix == 'm') {
    ASSIGN_OR_RETURN(BigNumber number, BigNumber::ParseDecimal(digits));
    number.decimal = true;
    return Value::Of(std::move(number));
  }
  if (parts.suffix == 'f') {
    const std::optional<float> v = FloatOfDigits(digits);
    return v.has_value() ? StatusOr<Value>(Value::Float(*v)) : NotANumber(text);
  }
  if (parts.suffix != '\0' && parts.suffix != 'd') return NotANumber(text);
  const std::optional<double> v = DoubleOfDigits(digits);
  return v.has_value() ? StatusOr<Value>(Value::Double(*v)) : NotANumber(text);
}

// The four digits after "\u" at `at`; -1 when they are not there. "\uuuu0041" is Java's too.
int ReadUnicodeEscape(std::string_view text, size_t* at) {
  size_t i = *at;
  if (!text.substr(i).starts_with("\\u")) return -1;
  for (++i; i < text.size() && text[i] == 'u';) ++i;
  int unit = 0;
  for (int digit = 0; digit < 4; ++digit, ++i) {
    const int value = i < text.size() ? HexDigit(text[i]) : -1;
    if (value < 0) return -1;
    unit = unit * 16 + value;
  }
  *at = i;
  return unit;
}

// One "\uXXXX", or two that make a surrogate pair. False when it is none.
bool AppendUnicodeEscape(std::string_view text, size_t* at, std::string* out) {
  const int unit = ReadUnicodeEscape(text, at);
  if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF)) return false;
  auto c = static_cast<char32_t>(unit);
  if (unit >= 0xD800 && unit <= 0xDBFF) {
    const int low = ReadUnicodeEscape(text, at);
    if (low < 0xDC00 || low > 0xDFFF) return false;
    c = 0x10000 + ((c - 0xD800) << 10) + (static_cast<char32_t>(low) - 0xDC00);
  }
  AppendUtf8(c, out);
  return true;
}

// The escape at `*at` (a backslash); advances past it. False when there is no such escape.
bool AppendEscape(std::string_view text, size_t* at, std::string* out) {
  constexpr std::string_view kNames = "btnfr\"'\\";
  constexpr std::string_view kCharacters = "\b\t\n\f\r\"'\\";
  const char c = *at + 1 < text.size() ? text[*at + 1] : '\0';
  if (c == 'u') return AppendUnicodeEscape(text, at, out);
  const size_t known = c == '\0' ? std::string_view::npos : kNames.find(c);
  if (known != std::string_view::npos) {
    out->push_back(kCharacters[known]);
    *at += 2;
    return true;
  }
  if (c >= '0' && c <= '7') {  // octal, at most \377
    const size_t longest = c <= '3' ? 3 : 2;
    char32_t v = 0;
    size_t i = *at + 1;
    for (size_t n = 0; n < longest && i < text.size() && text[i] >= '0' && text[i] <= '7'; ++n) {
      v = v * 8 + static_cast<char32_t>(text[i++] - '0');
    }
    AppendUtf8(v, out);
    *at = i;
    return true;
  }
  if (c == '\n' || text.substr(*at + 1, 2) == "\r\n") {  // a backslash at a line's end joins lines
    *at += c == '\n' ? 2 : 3;
    return true;
  }
  return false;
}

}  // namespace

StatusOr<Value> ParseNumber(std::string_view text) {
  if (text == "+Infinity") return Value::Double(std::numeric_limits<double>::infinity());
  if (text == "-Infinity") return Value::Double(-std::numeric_limits<double>::infinity());
  const std::optional<NumberParts> parts = SplitNumber(text);
  if (!parts.has_value()) return NotANumber(text);
  const bool decimal_suffix = parts->suffix == 'f' || parts->suffix == 'd' || parts->suffix == 'm';
  if (!parts->decimal && !decimal_suffix) return Integer(text, *parts);
  if (parts->hexadecimal) return NotANumber(text);
  return Decimal(text, *parts);
}

StatusOr<Value> ParseString(std::string_view text, size_t* error_at) {
  const std::string_view body = text.substr(1, text.size() - 2);
  const size_t first = body.find('\\');
  if (first == std::string_view::npos) return Value::String(std::string(body));
  std::string result(body.substr(0, first));
  size_t at = first;
  while (at < body.size()) {
    if (body[at] != '\\') {
      result.push_back(body[at++]);
      continue;
    }
    const size_t escape = at;
    if (!AppendEscape(body, &at, &result)) {
      *error_at = escape + 1;
      return LiteralError("BAD_ESCAPE", "This string has an unknown escape.",
                          "escapes are \\b \\t \\n \\f \\r \\\" \\' \\\\ \\uXXXX and octal \\0 to "
                          "\\377; write \\\\ for a backslash");
    }
  }
  return Value::String(std::move(result));
}

StatusOr<Uuid> ParseUuid(std::string_view text) {
  constexpr size_t kSize = 36;
  Uuid result;
  bool ok = text.size() == kSize;
  size_t digits = 0;
  for (size_t i = 0; ok && i < kSize; ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      ok = text[i] == '-';
      continue;
    }
    const int digit = HexDigit(text[i]);
    ok = digit >= 0;
    uint64_t& half = digits++ < 16 ? result.high : result.low;
    half = half << 4 | static_cast<uint64_t>(digit);
  }
  if (ok) return result;
  constexpr size_t kLongest = 60;
  return LiteralError("BAD_UUID",
                      "\"" + std::string(TruncateUtf8(text, kLongest)) + "\" is not a UUID.",
                      "UUIDs are like f47af10b-58cc-4372-a567-0f02b2f3d479");
}

}  // namespace koios::parser
