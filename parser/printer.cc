#include "parser/printer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/big_number.h"
#include "core/print/number_print.h"
#include "core/print/time_print.h"
#include "core/text/text.h"

namespace koios::parser {
namespace {

// Recursion follows the tree's nesting, which the parser bounds.
class Printer {
 public:
  void Print(const Traversal& traversal);
  void Print(const Call& call);
  void Print(const Argument& argument);
  void PrintVertex(const ElementData& vertex);
  void Print(const Value& value);
  std::string Take() { return std::move(out_); }

 private:
  void PrintItems(const std::vector<Argument>& items);
  void PrintPairs(const std::vector<Argument>& items, bool words_as_keys);
  void PrintKey(const Value& key);
  void PrintPredicate(const Argument& argument);
  void PrintString(const std::string& text);
  void PrintReal(double v, std::string digits, std::string_view suffix);
  void PrintValues(const ValueList& values, char open, char close);
  void PrintMap(const ValueMap& map);
  void PrintFunction(std::string_view name, const std::string& text);

  std::string out_;
};

bool IsWord(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9') || text == "new") return false;
  for (char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

void Printer::Print(const Traversal& traversal) {
  out_ += traversal.source.empty() && traversal.anonymous ? "__" : traversal.source;
  for (const Call& call : traversal.calls) {
    out_ += '.';
    Print(call);
  }
}

void Printer::Print(const Call& call) {
  out_ += call.name;
  out_ += '(';
  PrintItems(call.arguments);
  out_ += ')';
}

void Printer::PrintItems(const std::vector<Argument>& items) {
  bool first = true;
  for (const Argument& item : items) {
    if (!first) out_ += ", ";
    first = false;
    Print(item);
  }
}

// Keys and values in turn. A strategy's options are bare words.
void Printer::PrintPairs(const std::vector<Argument>& items, bool words_as_keys) {
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (i > 0) out_ += ", ";
    const Argument& key = items[i];
    if (words_as_keys && key.literal.kind() == ValueKind::kString) {
      out_ += key.literal.AsString();
    } else if (key.kind == Argument::Kind::kLiteral) {
      PrintKey(key.literal);
    } else {
      out_ += '(';
      Print(key);
      out_ += ')';
    }
    out_ += ": ";
    Print(items[i + 1]);
  }
}

void Printer::PrintKey(const Value& key) {
  if (key.kind() == ValueKind::kString && IsWord(key.AsString())) {
    out_ += key.AsString();
    return;
  }
  out_ += '(';
  Print(key);
  out_ += ')';
}

void Printer::PrintPredicate(const Argument& argument) {
  const bool joined = argument.name == "and" || argument.name == "or";
  if (!joined) {
    out_ += argument.qualifier + "." + argument.name + "(";
    PrintItems(argument.items);
    out_ += ')';
    return;
  }
  for (size_t i = 0; i < argument.items.size(); ++i) {
    if (i > 0) out_ += "." + argument.name + "(";
    Print(argument.items[i]);
    if (i > 0) out_ += ')';
  }
}

void Printer::Print(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::kLiteral:
      return Print(argument.literal);
    case Argument::Kind::kParameter:
      out_ += argument.name;
      return;
    case Argument::Kind::kEnum:
      out_ += argument.qualifier + "." + argument.name;
      if (argument.items.empty()) return;
      out_ += '(';
      PrintItems(argument.items);
      out_ += ')';
      return;
    case Argument::Kind::kPredicate:
      return PrintPredicate(argument);
    case Argument::Kind::kTraversal:
      return Print(*argument.traversal);
    case Argument::Kind::kList:
      out_ += '[';
      PrintItems(argument.items);
      out_ += ']';
      return;
    case Argument::Kind::kSet:
      out_ += '{';
      PrintItems(argument.items);
      out_ += '}';
      return;
    case Argument::Kind::kMap:
      out_ += '[';
      PrintPairs(argument.items, false);
      out_ += ']';
      return;
    case Argument::Kind::kStrategy:
      out_ += argument.items.empty() ? argument.name : "new " + argument.name;
      if (argument.items.empty()) return;
      out_ += '(';
      PrintPairs(argument.items, true);
      out_ += ')';
      return;
    case Argument::Kind::kFunction:
      out_ += argument.name + "(";
      PrintItems(argument.items);
      out_ += ')';
      return;
  }
}

void Printer::PrintString(const std::string& text) {
  out_ += '"';
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (c == '\t') {
      out_ += "\\t";
    } else if (c == '\r') {
      out_ += "\\r";
    } else if (byte < 0x20 || byte == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04X", static_cast<unsigned>(byte));
      out_ += escape;
    } else {
      out_ += c;
    }
  }
  out_ += '"';
}

void Printer::PrintReal(double v, std::string digits, std::string_view suffix) {
  if (std::isnan(v)) {
    out_ += "NaN";
  } else if (std::isinf(v)) {
    out_ += v < 0 ? "-Infinity" : "Infinity";
  } else {
    out_ += digits;
    out_ += suffix;
  }
}

// Whether a range says the same in less text: Ints, each one more or one less than that before it.
bool IsLongRange(const ValueList& values) {
  constexpr size_t kShortest = 10;
  if (values.size() < kShortest) return false;
  const int64_t step = values[1].AsInteger() - values[0].AsInteger();
  if (step != 1 && step != -1) return false;
  for (size_t i = 1; i < values.size(); ++i) {
    if (values[i].AsInteger() - values[i - 1].AsInteger() != step) return false;
  }
  return true;
}

void Printer::PrintValues(const ValueList& values, char open, char close) {
  const auto is_int = [](const Value& value) { return value.kind() == ValueKind::kInt; };
  if (open == '[' && std::all_of(values.begin(), values.end(), is_int) && IsLongRange(values)) {
    Print(values.front());
    out_ += "..";
    Print(values.back());
    return;
  }
  out_ += open;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out_ += ", ";
    Print(values[i]);
  }
  out_ += close;
}

void Printer::PrintMap(const ValueMap& map) {
  out_ += map.empty() ? "[:" : "[";
  for (size_t i = 0; i < map.size(); ++i) {
    if (i > 0) out_ += ", ";
    PrintKey(map[i].first);
    out_ += ": ";
    Print(map[i].second);
  }
  out_ += ']';
}

void Printer::PrintFunction(std::string_view name, const std::string& text) {
  out_ += name;
  out_ += "(\"" + text + "\")";
}

std::string_view TokenWord(Token token) {
  switch (token) {
    case Token::kId:
      return "T.id";
    case Token::kLabel:
      return "T.label";
    case Token::kKey:
      return "T.key";
    case Token::kValue:
      return "T.value";
  }
  return "";
}

std::string_view DirectionWord(Direction direction) {
  switch (direction) {
    case Direction::kOut:
      return "Direction.OUT";
    case Direction::kIn:
      return "Direction.IN";
    case Direction::kBoth:
      return "Direction.BOTH";
  }
  return "";
}

void Printer::PrintVertex(const ElementData& vertex) {
  out_ += "Vertex(";
  Print(vertex.id);
  out_ += ", ";
  PrintString(vertex.label);
  out_ += ')';
}

void Printer::Print(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kNull:
      out_ += "null";
      return;
    case ValueKind::kBool:
      out_ += value.AsBool() ? "true" : "false";
      return;
    case ValueKind::kByte:
      out_ += std::to_string(value.AsInteger()) + "b";
      return;
    case ValueKind::kShort:
      out_ += std::to_string(value.AsInteger()) + "s";
      return;
    case ValueKind::kInt:
      out_ += std::to_string(value.AsInteger());
      return;
    case ValueKind::kLong:
      out_ += std::to_string(value.AsInteger()) + "L";
      return;
    case ValueKind::kBigInt:
      out_ += value.AsBigNumber().ToString() + "n";
      return;
    case ValueKind::kFloat:
      return PrintReal(value.AsDouble(), PrintFloat(static_cast<float>(value.AsDouble())), "f");
    case ValueKind::kDouble:
      return PrintReal(value.AsDouble(), koios::PrintDouble(value.AsDouble()), "");
    case ValueKind::kBigDecimal:
      out_ += value.AsBigNumber().ToString() + "m";
      return;
    case ValueKind::kString:
      return PrintString(value.AsString());
    case ValueKind::kDateTime:
      return PrintFunction("datetime", PrintDateTime(value.AsDateTime()));
    case ValueKind::kDuration:
      return PrintFunction("Duration", PrintDuration(value.AsDuration()));
    case ValueKind::kUuid:
      return PrintFunction("UUID", PrintUuid(value.AsUuid()));
    case ValueKind::kList:
      return PrintValues(value.AsList(), '[', ']');
    case ValueKind::kSet:
      return PrintValues(value.AsList(), '{', '}');
    case ValueKind::kMap:
      return PrintMap(value.AsMap());
    case ValueKind::kToken:
      out_ += TokenWord(value.AsToken());
      return;
    case ValueKind::kDirection:
      out_ += DirectionWord(value.AsDirection());
      return;
    case ValueKind::kElement:
      if (value.AsElement().type == ElementData::Type::kVertex)
        return PrintVertex(value.AsElement());
      break;
    case ValueKind::kChar:
    case ValueKind::kBinary:
    case ValueKind::kVertex:
    case ValueKind::kEdge:
    case ValueKind::kVertexProperty:
    case ValueKind::kProperty:
    case ValueKind::kPath:
      break;
  }
  out_ += "<" + std::string(KindName(value.kind())) + ">";
}

template <typename Node>
std::string Text(const Node& node) {
  Printer printer;
  printer.Print(node);
  return printer.Take();
}

}  // namespace

std::string ToText(const Traversal& traversal) { return Text(traversal); }
std::string ToText(const Call& call) { return Text(call); }
std::string ToText(const Argument& argument) { return Text(argument); }
std::string ToText(const Value& value) { return Text(value); }

std::string ToShortText(const Call& call, size_t max_bytes) {
  std::string text = ToText(call);
  if (text.size() <= max_bytes) return text;
  text.resize(TruncateUtf8(text, max_bytes > 3 ? max_bytes - 3 : 0).size());
  return text + "...";
}

}  // namespace koios::parser
