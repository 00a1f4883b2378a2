#include "parser/fold.h"

#include <unordered_map>
#include <utility>

#include "core/convert/time_text.h"
#include "core/value_compare.h"
#include "parser/literal.h"

namespace koios::parser {

Argument Literal(Value value, SourceSpan span) {
  Argument argument;
  argument.literal = std::move(value);
  argument.span = span;
  return argument;
}

std::optional<Value> ConstantOf(const Argument& argument) {
  if (argument.kind == Argument::Kind::kLiteral) return argument.literal;
  if (argument.kind != Argument::Kind::kEnum) return std::nullopt;
  if (argument.qualifier == "T") {
    if (argument.name == "id") return Value::Of(koios::Token::kId);
    if (argument.name == "label") return Value::Of(koios::Token::kLabel);
    if (argument.name == "key") return Value::Of(koios::Token::kKey);
    return Value::Of(koios::Token::kValue);
  }
  if (argument.qualifier == "Direction") {
    if (argument.name == "OUT") return Value::Of(Direction::kOut);
    if (argument.name == "IN") return Value::Of(Direction::kIn);
    return Value::Of(Direction::kBoth);
  }
  return std::nullopt;
}

std::optional<ValueList> ConstantsOf(const std::vector<Argument>& items) {
  ValueList values;
  values.reserve(items.size());
  for (const Argument& item : items) {
    std::optional<Value> value = ConstantOf(item);
    if (!value.has_value()) return std::nullopt;
    values.push_back(*std::move(value));
  }
  return values;
}

StatusOr<Value> MapOf(ValueList keys_and_values) {
  ValueMap map;
  std::unordered_map<Value, size_t, ValueHash, ValueEquivalent> places;
  for (size_t i = 0; i + 1 < keys_and_values.size(); i += 2) {
    const auto [place, is_new] = places.try_emplace(keys_and_values[i], map.size());
    if (is_new) {
      map.emplace_back(std::move(keys_and_values[i]), std::move(keys_and_values[i + 1]));
    } else {
      map[place->second].second = std::move(keys_and_values[i + 1]);
    }
  }
  return Value::Map(std::move(map));
}

StatusOr<Value> CallLiteralFunction(std::string_view name, const std::string& text) {
  if (name == "UUID") {
    ASSIGN_OR_RETURN(const Uuid uuid, ParseUuid(text));
    return Value::Of(uuid);
  }
  if (name == "Duration") {
    ASSIGN_OR_RETURN(const Duration duration, ParseDuration(text));
    return Value::Of(duration);
  }
  ASSIGN_OR_RETURN(const DateTime time, ParseDateTime(text));
  return Value::Of(time);
}

std::string_view CanonicalFunction(std::string_view name) {
  if (name == "DateTime") return "datetime";
  if (name == "uuid") return "UUID";
  if (name == "ReferenceVertex") return "Vertex";
  return name;
}

}  // namespace koios::parser
