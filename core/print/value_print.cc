#include "core/print/value_print.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/escaping.h"
#include "core/big_number.h"
#include "core/path/path.h"
#include "core/print/number_print.h"
#include "core/print/time_print.h"
#include "core/text/text.h"

namespace koios {
namespace {

constexpr size_t kMaxPropertyValue = 20;  // of vp[...] and p[...], as TinkerPop abbreviates

std::string Reference(std::string_view kind, uint64_t bits) {
  return std::string(kind) + "[#" + std::to_string(bits) + "]";
}

std::string_view TokenName(Token token) {
  switch (token) {
    case Token::kId:
      return "id";
    case Token::kLabel:
      return "label";
    case Token::kKey:
      return "key";
    case Token::kValue:
      return "value";
  }
  return "id";
}

std::string_view DirectionName(Direction direction) {
  switch (direction) {
    case Direction::kOut:
      return "OUT";
    case Direction::kIn:
      return "IN";
    case Direction::kBoth:
      return "BOTH";
  }
  return "OUT";
}

std::string PrintNumber(const Value& v) {
  if (v.kind() == ValueKind::kDouble) return PrintDouble(v.AsDouble());
  if (v.kind() == ValueKind::kFloat) return PrintFloat(static_cast<float>(v.AsDouble()));
  if (v.kind() == ValueKind::kBigInt || v.kind() == ValueKind::kBigDecimal) {
    return v.AsBigNumber().ToString();
  }
  return std::to_string(v.AsInteger());
}

// References and scalars that are no number and no text.
std::string PrintScalar(const Value& v) {
  if (v.kind() == ValueKind::kDateTime) return PrintDateTime(v.AsDateTime());
  if (v.kind() == ValueKind::kDuration) return PrintDuration(v.AsDuration());
  if (v.kind() == ValueKind::kUuid) return PrintUuid(v.AsUuid());
  if (v.kind() == ValueKind::kToken) return std::string(TokenName(v.AsToken()));
  if (v.kind() == ValueKind::kDirection) return std::string(DirectionName(v.AsDirection()));
  if (v.kind() == ValueKind::kVertex) return Reference("v", v.AsVertex().bits);
  DCHECK(v.kind() == ValueKind::kEdge);
  return Reference("e", v.AsEdge().id);
}

// Appends until the limit is passed, then nothing more.
class ConsolePrinter {
 public:
  explicit ConsolePrinter(size_t max_bytes) : max_bytes_(max_bytes) {}

  void Print(const Value& v) {
    if (full()) return;
    switch (v.kind()) {
      case ValueKind::kNull:
        return Put("null");
      case ValueKind::kBool:
        return Put(v.AsBool() ? "true" : "false");
      case ValueKind::kByte:
      case ValueKind::kShort:
      case ValueKind::kInt:
      case ValueKind::kLong:
      case ValueKind::kBigInt:
      case ValueKind::kFloat:
      case ValueKind::kDouble:
      case ValueKind::kBigDecimal:
        return Put(PrintNumber(v));
      case ValueKind::kString:
        return Put(v.AsString());
      case ValueKind::kChar:
        return AppendUtf8(v.AsChar(), &out_);
      case ValueKind::kBinary:
        return PutHex(v.AsString());
      case ValueKind::kList:
      case ValueKind::kSet:
        return PutList(v.AsList());
      case ValueKind::kMap:
        return PutMap(v.AsMap());
      case ValueKind::kPath:
        return PutList(PathObjects(v.AsPath()));
      case ValueKind::kVertexProperty:
        return PutProperty("vp", v.AsVertexProperty().key, v.AsVertexProperty().value);
      case ValueKind::kProperty:
        return PutProperty("p", v.AsProperty().key, v.AsProperty().value);
      case ValueKind::kElement:
        return PutElement(v.AsElement());
      case ValueKind::kDateTime:
      case ValueKind::kDuration:
      case ValueKind::kUuid:
      case ValueKind::kVertex:
      case ValueKind::kEdge:
      case ValueKind::kToken:
      case ValueKind::kDirection:
        return Put(PrintScalar(v));
    }
  }

  std::string Take() {
    if (!full()) return std::move(out_);
    constexpr std::string_view kMore = "...";
    const size_t keep = max_bytes_ > kMore.size() ? max_bytes_ - kMore.size() : 0;
    return std::string(TruncateUtf8(out_, keep)).append(kMore.substr(0, max_bytes_));
  }

 private:
  bool full() const { return out_.size() > max_bytes_; }

  void Put(std::string_view text) {
    if (full()) return;
    const size_t room = max_bytes_ - out_.size();
    out_.append(text.size() > room ? text.substr(0, room + 1) : text);
  }

  void PutHex(const std::string& bytes) {
    Put("0x");
    const std::string_view shown = std::string_view(bytes).substr(0, max_bytes_);
    Put(absl::BytesToHexString(absl::string_view(shown.data(), shown.size())));
  }

  template <typename List>
  void PutList(const List& list) {
    Put("[");
    for (size_t i = 0; i < list.size() && !full(); ++i) {
      if (i > 0) Put(",");
      Print(list[i]);
    }
    Put("]");
  }

  void PutMap(const ValueMap& map) {
    if (map.empty()) return Put("[:]");
    Put("[");
    for (size_t i = 0; i < map.size() && !full(); ++i) {
      if (i > 0) Put(",");
      Print(map[i].first);
      Put(":");
      Print(map[i].second);
    }
    Put("]");
  }

  // vp[key->value], the value cut as TinkerPop cuts it.
  void PutProperty(std::string_view kind, const std::string& key, const Value& value) {
    ConsolePrinter inner(kMaxPropertyValue * 4);  // bytes: 20 code points at most
    inner.Print(value);
    std::string text = inner.Take();
    if (CountCodePoints(text) > kMaxPropertyValue) {
      size_t end = 0;
      for (size_t points = 0; end < text.size(); ++end) {
        const bool starts = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
        if (starts && ++points > kMaxPropertyValue - 3) break;
      }
      text = text.substr(0, end) + "...";
    }
    Put(kind);
    Put("[");
    Put(key);
    Put("->");
    Put(text);
    Put("]");
  }

  void PutElement(const ElementData& e) {
    switch (e.type) {
      case ElementData::Type::kVertex:
        Put("v[");
        Print(e.id);
        return Put("]");
      case ElementData::Type::kEdge:
        Put("e[");
        Print(e.id);
        Put("][");
        Print(e.out_id);
        Put("-");
        Put(e.label);
        Put("->");
        Print(e.in_id);
        return Put("]");
      case ElementData::Type::kVertexProperty:
        return PutProperty("vp", e.label, e.value);
      case ElementData::Type::kProperty:
        return PutProperty("p", e.label, e.value);
    }
  }

  const size_t max_bytes_;
  std::string out_;
};

class JsonPrinter {
 public:
  explicit JsonPrinter(std::string* out) : out_(*out) {}

  void Print(const Value& v) {
    switch (v.kind()) {
      case ValueKind::kNull:
        return Put("null");
      case ValueKind::kBool:
        return Put(v.AsBool() ? "true" : "false");
      case ValueKind::kByte:
      case ValueKind::kShort:
      case ValueKind::kInt:
      case ValueKind::kLong:
      case ValueKind::kBigInt:
      case ValueKind::kBigDecimal:
        return Put(PrintNumber(v));
      case ValueKind::kFloat:
      case ValueKind::kDouble:
        return std::isfinite(v.AsDouble()) ? Put(PrintNumber(v)) : PutString(PrintNumber(v));
      case ValueKind::kString:
        return PutString(v.AsString());
      case ValueKind::kChar: {
        std::string text;
        AppendUtf8(v.AsChar(), &text);
        return PutString(text);
      }
      case ValueKind::kBinary:
        return PutString(absl::Base64Escape(v.AsString()));
      case ValueKind::kList:
      case ValueKind::kSet:
        return PutList(v.AsList());
      case ValueKind::kMap:
        return PutMap(v.AsMap());
      case ValueKind::kPath:
        return PutPath(PathObjects(v.AsPath()));
      case ValueKind::kVertexProperty:
        return PutProperty(v.AsVertexProperty().key, v.AsVertexProperty().value);
      case ValueKind::kProperty:
        return PutProperty(v.AsProperty().key, v.AsProperty().value);
      case ValueKind::kElement:
        return PutElement(v.AsElement());
      case ValueKind::kDateTime:
      case ValueKind::kDuration:
      case ValueKind::kUuid:
      case ValueKind::kVertex:
      case ValueKind::kEdge:
      case ValueKind::kToken:
      case ValueKind::kDirection:
        return PutString(PrintScalar(v));
    }
  }

 private:
  void Put(std::string_view text) { out_.append(text); }

  void PutString(std::string_view text) {
    constexpr char kHex[] = "0123456789abcdef";
    const std::string repaired = IsValidUtf8(text) ? std::string() : ToValidUtf8(text);
    if (!repaired.empty()) text = repaired;
    out_.push_back('"');
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out_.push_back('\\');
        out_.push_back(c);
      } else if (c == '\n') {
        Put("\\n");
      } else if (c == '\t') {
        Put("\\t");
      } else if (c == '\r') {
        Put("\\r");
      } else if (byte < 0x20 || byte == 0x7F) {
        Put("\\u00");
        out_.push_back(kHex[byte >> 4]);
        out_.push_back(kHex[byte & 15]);
      } else {
        out_.push_back(c);
      }
    }
    out_.push_back('"');
  }

  template <typename List>
  void PutList(const List& list) {
    Put("[");
    for (size_t i = 0; i < list.size(); ++i) {
      if (i > 0) Put(",");
      Print(list[i]);
    }
    Put("]");
  }

  // An object's keys are strings; the words of tokens and directions are as good, unless a string
  // is the same word.
  static bool HasDistinctNames(const ValueMap& map) {
    std::set<std::string> names;
    return std::all_of(map.begin(), map.end(), [&names](const auto& entry) {
      const Value& key = entry.first;
      if (key.kind() == ValueKind::kString) return names.insert(key.AsString()).second;
      if (key.kind() != ValueKind::kToken && key.kind() != ValueKind::kDirection) return false;
      return names.insert(PrintScalar(key)).second;
    });
  }

  void PutMap(const ValueMap& map) {
    const bool object = HasDistinctNames(map);
    Put(object ? "{" : "[");
    for (size_t i = 0; i < map.size(); ++i) {
      if (i > 0) Put(",");
      if (!object) Put("[");
      Print(map[i].first);
      Put(object ? ":" : ",");
      Print(map[i].second);
      if (!object) Put("]");
    }
    Put(object ? "}" : "]");
  }

  void PutPath(const PathObjects& path) {
    Put("{\"objects\":");
    PutList(path);
    Put(",\"labels\":[");
    for (size_t i = 0; i < path.size(); ++i) {
      Put(i > 0 ? ",[" : "[");
      const auto labels = path.LabelsOf(i);
      for (size_t j = 0; j < labels.size(); ++j) {
        if (j > 0) Put(",");
        PutString(labels[j]);
      }
      Put("]");
    }
    Put("]}");
  }

  void PutProperty(const std::string& key, const Value& value) {
    Put("{\"key\":");
    PutString(key);
    PutMember("value", value);
    Put("}");
  }

  // One more member of an object that has one already.
  void PutMember(std::string_view name, const Value& value) {
    Put(",");
    PutString(name);
    Put(":");
    Print(value);
  }

  void PutMember(std::string_view name, const std::string& text) {
    Put(",");
    PutString(name);
    Put(":");
    PutString(text);
  }

  void PutElement(const ElementData& e) {
    if (e.type == ElementData::Type::kProperty) return PutProperty(e.label, e.value);
    Put("{\"id\":");
    Print(e.id);
    PutMember("label", e.label);
    if (e.type == ElementData::Type::kEdge) {
      PutMember("out", e.out_id);
      PutMember("outLabel", e.out_label);
      PutMember("in", e.in_id);
      PutMember("inLabel", e.in_label);
    }
    if (e.type == ElementData::Type::kVertexProperty) PutMember("value", e.value);
    if (!e.properties.empty()) {
      Put(",\"properties\":");
      PutMap(e.properties);
    }
    Put("}");
  }

  std::string& out_;
};

}  // namespace

std::string PrintValue(const Value& value, const PrintOptions& options) {
  ConsolePrinter printer(options.max_bytes);
  printer.Print(value);
  return printer.Take();
}

void PrintJson(const Value& value, std::string* out) { JsonPrinter(out).Print(value); }

}  // namespace koios
