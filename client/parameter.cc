#include "client/parameter.h"

#include <cctype>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "parser/parser.h"

namespace koios::client {
namespace {

std::string_view WithoutSpaces(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) {
    text.remove_suffix(1);
  }
  return text;
}

bool IsName(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front()))) return false;
  for (const char c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  }
  return true;
}

// The literal that `text` is in Gremlin; nullopt when it is none.
std::optional<Value> GremlinLiteral(std::string_view text) {
  StatusOr<parser::Query> query = parser::Parse("g.inject(" + std::string(text) + "\n)");
  if (!query.ok() || query->root.calls.size() != 1) return std::nullopt;
  const parser::Call& inject = query->root.calls[0];
  if (query->terminal != parser::Terminal::kNone || inject.arguments.size() != 1 ||
      inject.arguments[0].kind != parser::Argument::Kind::kLiteral) {
    return std::nullopt;
  }
  return inject.arguments[0].literal;
}

Value JsonInteger(const nlohmann::json& json) {
  if (json.is_number_unsigned() &&
      json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return Value::Double(json.get<double>());
  }
  const auto number = json.get<int64_t>();
  const bool fits = number >= std::numeric_limits<int32_t>::min() &&
                    number <= std::numeric_limits<int32_t>::max();
  return fits ? Value::Int(static_cast<int32_t>(number)) : Value::Long(number);
}

// `depth` levels may still be entered.
StatusOr<Value> FromJson(const nlohmann::json& json, int depth) {
  using Type = nlohmann::json::value_t;
  switch (json.type()) {
    case Type::null:
      return Value::Null();
    case Type::boolean:
      return Value::Bool(json.get<bool>());
    case Type::number_integer:
    case Type::number_unsigned:
      return JsonInteger(json);
    case Type::number_float:
      return Value::Double(json.get<double>());
    case Type::string:
      return Value::String(json.get<std::string>());
    case Type::array:
    case Type::object:
      break;
    case Type::binary:
    case Type::discarded:
      return InvalidArgument("The parameter's value is not JSON.");
  }
  if (depth == 0) RETURN_IF_ERROR(CheckDepth(kMaxValueDepth + 1));
  if (json.is_array()) {
    ValueList items;
    for (const nlohmann::json& item : json) {
      ASSIGN_OR_RETURN(Value value, FromJson(item, depth - 1));
      items.push_back(std::move(value));
    }
    return Value::List(std::move(items));
  }
  ValueMap entries;
  for (const auto& [key, item] : json.items()) {
    ASSIGN_OR_RETURN(Value value, FromJson(item, depth - 1));
    entries.emplace_back(Value::String(key), std::move(value));
  }
  return Value::Map(std::move(entries));
}

// nlohmann's parser does not recurse, but what walks and frees its result does.
bool NestsTooDeep(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kMaxValueDepth) return true;
  }
  return false;
}

}  // namespace

StatusOr<Value> ParseParameterValue(std::string_view text) {
  text = WithoutSpaces(text);
  if (std::optional<Value> literal = GremlinLiteral(text)) return *std::move(literal);
  if (NestsTooDeep(text)) return CheckDepth(kMaxValueDepth + 1);
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return InvalidArgument(
        "'" + std::string(text.substr(0, 100)) +
        "' is neither a Gremlin literal nor JSON; a string needs quotes: 'text'.");
  }
  return FromJson(json, kMaxValueDepth - 1);
}

StatusOr<std::pair<std::string, Value>> ParseParameter(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return InvalidArgument("A parameter is written name=value, not '" +
                           std::string(text.substr(0, 100)) + "'.");
  }
  const std::string_view name = WithoutSpaces(text.substr(0, equals));
  if (!IsName(name)) {
    return InvalidArgument("'" + std::string(name.substr(0, 100)) + "' can't name a parameter.");
  }
  ASSIGN_OR_RETURN(Value value, ParseParameterValue(text.substr(equals + 1)));
  return std::make_pair(std::string(name), std::move(value));
}

}  // namespace koios::client
