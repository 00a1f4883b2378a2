#include "import/header/column_type.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/big_number.h"
#include "core/text/name_distance.h"
#include "core/text/text.h"
#include "import/header/time_text.h"

namespace koios::import {
namespace {

struct TypeName {
  std::string_view name;
  ScalarType type;
};
constexpr std::array kTypeNames = {
    TypeName{"bool", ScalarType::kBool},
    TypeName{"boolean", ScalarType::kBool},
    TypeName{"byte", ScalarType::kByte},
    TypeName{"short", ScalarType::kShort},
    TypeName{"int", ScalarType::kInt},
    TypeName{"integer", ScalarType::kInt},
    TypeName{"long", ScalarType::kLong},
    TypeName{"biginteger", ScalarType::kBigInteger},
    TypeName{"float", ScalarType::kFloat},
    TypeName{"double", ScalarType::kDouble},
    TypeName{"bigdecimal", ScalarType::kBigDecimal},
    TypeName{"string", ScalarType::kString},
    TypeName{"char", ScalarType::kChar},
    TypeName{"date", ScalarType::kDateTime},
    TypeName{"datetime", ScalarType::kDateTime},
    TypeName{"localdatetime", ScalarType::kDateTime},
    TypeName{"time", ScalarType::kTime},
    TypeName{"localtime", ScalarType::kTime},
    TypeName{"duration", ScalarType::kDuration},
    TypeName{"uuid", ScalarType::kUuid},
    TypeName{"point", ScalarType::kString},
};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string_view Trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string Quoted(std::string_view text) {
  constexpr size_t kShown = 40;
  std::string shown(TruncateUtf8(text, kShown));
  if (shown.size() < text.size()) shown += "...";
  return "'" + shown + "'";
}

template <typename T>
bool ParseNumber(std::string_view text, std::string_view name, T* number, std::string* why) {
  text = Trim(text);
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *number);
  if (error == std::errc() && end == digits.data() + digits.size()) return true;
  if (error == std::errc::result_out_of_range && end == digits.data() + digits.size()) {
    *why = Quoted(text) + " is out of the range of " + std::string(name);
  } else {
    *why = Quoted(text) + " is no " + std::string(name);
  }
  return false;
}

template <typename T>
bool ParseWhole(std::string_view text, std::string_view name, int64_t* number, std::string* why) {
  T narrow{};
  if (!ParseNumber(text, name, &narrow, why)) return false;
  *number = narrow;
  return true;
}

bool ParseBool(std::string_view text, Value* value, std::string* why) {
  std::string word = Lower(Trim(text));
  if (word != "true" && word != "false") {
    *why = Quoted(text) + " is neither true nor false";
    return false;
  }
  *value = Value::Bool(word == "true");
  return true;
}

// Exactly one code point; the text is known to be UTF-8.
bool ParseChar(std::string_view text, Value* value, std::string* why) {
  const auto byte = [&](size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[i]));
  };
  size_t length = 0;
  char32_t code = 0;
  if (!text.empty()) {
    const char32_t lead = byte(0);
    length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    code = length == 1 ? lead : lead & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length && i < text.size(); ++i) code = (code << 6) | (byte(i) & 0x3F);
  }
  if (length == 0 || length != text.size()) {
    *why = Quoted(text) + " is not one character";
    return false;
  }
  *value = Value::Char(code);
  return true;
}

bool ParseUuid(std::string_view text, Value* value, std::string* why) {
  constexpr std::array<size_t, 4> kDashes = {8, 13, 18, 23};
  constexpr size_t kLength = 36;
  text = Trim(text);
  uint64_t halves[2] = {0, 0};
  size_t digits = 0;
  bool good = text.size() == kLength;
  for (size_t i = 0; good && i < kLength; ++i) {
    if (std::find(kDashes.begin(), kDashes.end(), i) != kDashes.end()) {
      good = text[i] == '-';
      continue;
    }
    const char c = text[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    good = digit >= 0;
    uint64_t* half = &halves[digits++ / 16];
    *half = (*half << 4) | static_cast<uint64_t>(digit & 0xF);
  }
  if (!good) {
    *why = Quoted(text) + " is no uuid";
    return false;
  }
  *value = Value::Of(Uuid{halves[0], halves[1]});
  return true;
}

bool ParseBig(ScalarType type, std::string_view text, Value* value, std::string* why) {
  text = Trim(text);
  auto number = type == ScalarType::kBigInteger ? BigNumber::ParseInteger(text)
                                                : BigNumber::ParseDecimal(text);
  if (!number.ok()) {
    *why = Quoted(text) + " is no number: " + MessageOf(number.status());
    return false;
  }
  *value = Value::Of(*std::move(number));
  return true;
}

bool ParseInstant(ScalarType type, std::string_view text, Value* value, std::string* why) {
  text = Trim(text);
  if (type == ScalarType::kTime) {
    if (IsTimeOfDay(text)) {
      *value = Value::String(std::string(text));
      return true;
    }
    *why = Quoted(text) + " is no time such as 14:05:09";
    return false;
  }
  if (type == ScalarType::kDuration) {
    if (auto duration = ParseDuration(text)) {
      *value = Value::Of(*duration);
      return true;
    }
    *why =
        Quoted(text) + " is no duration such as P1DT2H30M (years and months have no fixed length)";
    return false;
  }
  if (auto instant = ParseDateTime(text)) {
    *value = Value::Of(*instant);
    return true;
  }
  *why = Quoted(text) + " is no date such as 2012-07-21 or 2012-07-21T14:05:09Z";
  return false;
}

// The next item of a list and what is left; an escaped delimiter is a plain one.
std::string NextItem(std::string_view* rest, char delimiter, bool* last) {
  std::string item;
  for (size_t i = 0; i < rest->size(); ++i) {
    const char c = (*rest)[i];
    if (c == '\\' && i + 1 < rest->size() && (*rest)[i + 1] == delimiter) {
      item.push_back(delimiter);
      ++i;
    } else if (c == delimiter) {
      rest->remove_prefix(i + 1);
      *last = false;
      return item;
    } else {
      item.push_back(c);
    }
  }
  *last = true;
  return item;
}

}  // namespace

StatusOr<ColumnType> ParseColumnType(std::string_view name) {
  ColumnType type;
  std::string word = Lower(Trim(name));
  if (word.ends_with("[]")) {
    type.list = true;
    word.resize(word.size() - 2);
  }
  std::string known;
  std::vector<std::string_view> names;
  for (const TypeName& row : kTypeNames) {
    if (row.name == word) {
      type.scalar = row.type;
      return type;
    }
    known += (known.empty() ? "" : ", ") + std::string(row.name);
    names.push_back(row.name);
  }
  const auto nearest = NearestName(word, names);
  return InvalidArgument("Unknown type '" + std::string(name) + "'; " +
                         (nearest ? "did you mean " + *nearest + "? The" : "the") + " types are " +
                         known + ", each also as a list: type[].");
}

bool ParseScalar(ScalarType type, std::string_view text, Value* value, std::string* why) {
  int64_t whole = 0;
  switch (type) {
    case ScalarType::kBool:
      return ParseBool(text, value, why);
    case ScalarType::kByte:
      if (!ParseWhole<int8_t>(text, "byte", &whole, why)) return false;
      *value = Value::Byte(static_cast<int8_t>(whole));
      return true;
    case ScalarType::kShort:
      if (!ParseWhole<int16_t>(text, "short", &whole, why)) return false;
      *value = Value::Short(static_cast<int16_t>(whole));
      return true;
    case ScalarType::kInt:
      if (!ParseWhole<int32_t>(text, "int", &whole, why)) return false;
      *value = Value::Int(static_cast<int32_t>(whole));
      return true;
    case ScalarType::kLong:
      if (!ParseWhole<int64_t>(text, "long", &whole, why)) return false;
      *value = Value::Long(whole);
      return true;
    case ScalarType::kFloat: {
      float number = 0;
      if (!ParseNumber(text, "float", &number, why)) return false;
      *value = Value::Float(number);
      return true;
    }
    case ScalarType::kDouble: {
      double number = 0;
      if (!ParseNumber(text, "double", &number, why)) return false;
      *value = Value::Double(number);
      return true;
    }
    case ScalarType::kBigInteger:
    case ScalarType::kBigDecimal:
      return ParseBig(type, text, value, why);
    case ScalarType::kString:
      *value = Value::String(std::string(text));
      return true;
    case ScalarType::kChar:
      return ParseChar(text, value, why);
    case ScalarType::kDateTime:
    case ScalarType::kTime:
    case ScalarType::kDuration:
      return ParseInstant(type, text, value, why);
    case ScalarType::kUuid:
      return ParseUuid(text, value, why);
  }
  return false;
}

bool ParseField(ColumnType type, std::string_view text, const CsvOptions& options, Value* value,
                std::string* why) {
  if (!type.list) return ParseScalar(type.scalar, text, value, why);
  ValueList items;
  bool last = false;
  while (!last) {
    std::string item = NextItem(&text, options.array_delimiter, &last);
    if (items.size() >= options.max_list_items) {
      *why = "the list has more than " + std::to_string(options.max_list_items) + " items";
      return false;
    }
    Value one;
    if (!ParseScalar(type.scalar, item, &one, why)) {
      *why = "item " + std::to_string(items.size() + 1) + ": " + *why;
      return false;
    }
    items.push_back(std::move(one));
  }
  StatusOr<Value> list = Value::List(std::move(items));
  if (!list.ok()) {
    *why = MessageOf(list.status());
    return false;
  }
  *value = *std::move(list);
  return true;
}

}  // namespace koios::import
