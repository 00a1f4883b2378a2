#include "tests/golden/simulated/golden_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <vector>

#include "core/big_number.h"
#include "core/path/path.h"
#include "core/print/time_print.h"
#include "core/text/text.h"

namespace koios::golden {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Words, the first of which is no number, with one blank between two; and none that is a literal.
bool IsBare(const std::string& text) {
  if (text.empty() || !IsLetter(text[0]) || text.back() == ' ') return false;
  for (const char* word : {"true", "false", "null", "NaN", "Infinity"}) {
    if (text == word) return false;
  }
  bool first_word = true;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ' && text[i + 1] == ' ') return false;
    first_word = first_word && c != ' ';
    if (c != ' ' && !IsDigit(c) && (!IsLetter(c) || (c == '_' && !first_word))) return false;
  }
  return true;
}

std::string Quoted(const std::string& text) {
  if (IsBare(text)) return text;
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\\\";
        break;
      case '"':
        out += "\\\"";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        out += c;
    }
  }
  return out + "\"";
}

std::string Real(double value, bool is_float) {
  const std::string suffix = is_float ? "f" : "";
  if (std::isnan(value)) return "NaN" + suffix;
  if (std::isinf(value)) return (value < 0 ? "-Infinity" : "Infinity") + suffix;
  std::array<char, 64> buffer{};
  if (is_float) {
    std::snprintf(buffer.data(), buffer.size(), "%.7g", value);
  } else {
    const double size = std::abs(value);
    const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
    std::to_chars(buffer.data(), buffer.data() + buffer.size() - 1, value,
                  plain ? std::chars_format::fixed : std::chars_format::scientific);
  }
  std::string text = buffer.data();
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + suffix;
}

class Printer {
 public:
  explicit Printer(const TextOptions& options) : options_(options) {}

  // Recursion is bounded by kMaxValueDepth.
  std::string Print(const Value& v) const {
    switch (v.kind()) {
      case ValueKind::kNull:
        return "null";
      case ValueKind::kBool:
        return v.AsBool() ? "true" : "false";
      case ValueKind::kString:
        return Quoted(v.AsString());
      case ValueKind::kChar: {
        std::string text;
        AppendUtf8(v.AsChar(), &text);
        return "char:" + Quoted(text);
      }
      case ValueKind::kList:
        return "[" + Join(Items(v.AsList()), options_.sort_lists) + "]";
      case ValueKind::kSet:
        return "{" + Join(Items(v.AsList()), true) + "}";
      case ValueKind::kMap:
        return PrintMap(v.AsMap());
      case ValueKind::kPath:
        return "path[" + Join(Items(ObjectsOf(v)), false) + "]";
      case ValueKind::kElement:
        return PrintElement(v.AsElement());
      default:
        return v.is_number() ? PrintNumber(v) : PrintRest(v);
    }
  }

 private:
  static std::string PrintNumber(const Value& v) {
    switch (v.kind()) {
      case ValueKind::kFloat:
      case ValueKind::kDouble:
        return Real(v.AsDouble(), v.kind() == ValueKind::kFloat);
      case ValueKind::kBigInt:
        return v.AsBigNumber().ToString() + "n";
      case ValueKind::kBigDecimal:
        return v.AsBigNumber().ToString() + "m";
      case ValueKind::kByte:
        return std::to_string(v.AsInteger()) + "b";
      case ValueKind::kShort:
        return std::to_string(v.AsInteger()) + "s";
      case ValueKind::kLong:
        return std::to_string(v.AsInteger()) + "L";
      default:
        return std::to_string(v.AsInteger());
    }
  }

  static std::string PrintRest(const Value& v) {
    switch (v.kind()) {
      case ValueKind::kDateTime:
        return PrintMoment(v.AsDateTime());
      case ValueKind::kUuid:
        return "uuid:" + PrintUuid(v.AsUuid());
      case ValueKind::kDuration: {
        std::array<char, 64> buffer{};
        const Duration duration = v.AsDuration();
        std::snprintf(buffer.data(), buffer.size(), "duration:%lld.%09d",
                      static_cast<long long>(duration.seconds), duration.nanos);
        return buffer.data();
      }
      case ValueKind::kToken: {
        constexpr std::array<const char*, 4> kNames = {"id", "label", "key", "value"};
        constexpr std::array<Token, 4> kTokens = {Token::kId, Token::kLabel, Token::kKey,
                                                  Token::kValue};
        const auto at = std::find(kTokens.begin(), kTokens.end(), v.AsToken()) - kTokens.begin();
        return std::string("T.") + kNames.at(static_cast<size_t>(at));
      }
      case ValueKind::kDirection:
        return v.AsDirection() == Direction::kOut  ? "D.OUT"
               : v.AsDirection() == Direction::kIn ? "D.IN"
                                                   : "D.BOTH";
      default:
        return "a value of kind " + std::string(KindName(v.kind()));
    }
  }

  // As Python's isoformat: seconds always.
  // Seconds always, and microseconds where there are some.
  static std::string PrintMoment(const DateTime& moment) {
    std::string text = PrintDateTime(moment);
    const size_t time = text.find('T') + 1;
    const size_t zone = text.find_first_of("Z+-", time);
    if (zone - time == 5) text.insert(zone, ":00");
    const size_t point = text.find('.', time);
    if (point != std::string::npos && zone - point == 4) text.insert(zone, "000");
    return "dt:" + text;
  }

  std::vector<std::string> Items(const ValueList& values) const {
    std::vector<std::string> items;
    for (const Value& value : values) items.push_back(Print(value));
    return items;
  }

  static std::string Join(std::vector<std::string> items, bool sort) {
    if (sort) std::sort(items.begin(), items.end());
    std::string text;
    for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
    return text;
  }

  std::string PrintMap(const ValueMap& map) const {
    if (map.empty()) return "[:]";
    std::vector<std::string> entries;
    for (const auto& [key, value] : map) entries.push_back(Print(key) + ":" + Print(value));
    return "[" + Join(std::move(entries), options_.sort_maps) + "]";
  }

  // Whatever the width: 1, or a bare string.
  std::string Id(const Value& id) const {
    if (id.kind() == ValueKind::kInt || id.kind() == ValueKind::kLong) {
      return std::to_string(id.AsInteger());
    }
    return id.kind() == ValueKind::kString ? id.AsString() : Print(id);
  }

  std::string PrintElement(const ElementData& element) const {
    switch (element.type) {
      case ElementData::Type::kVertex:
        return "v[" + Id(element.id) + "]";
      case ElementData::Type::kEdge:
        return "e[" + Id(element.id) + "][" + Id(element.out_id) + "-" + element.label + "->" +
               Id(element.in_id) + "]";
      case ElementData::Type::kVertexProperty:
        return "vp[" + element.label + "->" + Print(element.value) + "]";
      case ElementData::Type::kProperty:
        return "p[" + element.label + "->" + Print(element.value) + "]";
    }
    return "";
  }

  const TextOptions options_;
};

}  // namespace

std::string ToText(const Value& value, const TextOptions& options) {
  return Printer(options).Print(value);
}

}  // namespace koios::golden
