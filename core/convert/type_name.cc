#include "core/convert/type_name.h"

#include <map>
#include <string>
#include <vector>

namespace koios {
namespace {

// In upper case.
const std::map<std::string, std::vector<ValueKind>, std::less<>>& TypeNames() {
  static const std::map<std::string, std::vector<ValueKind>, std::less<>> kNames = {
      {"NULL", {ValueKind::kNull}},
      {"BOOLEAN", {ValueKind::kBool}},
      {"BYTE", {ValueKind::kByte}},
      {"SHORT", {ValueKind::kShort}},
      {"INT", {ValueKind::kInt}},
      {"INTEGER", {ValueKind::kInt}},
      {"LONG", {ValueKind::kLong}},
      {"BIGINT", {ValueKind::kBigInt}},
      {"BIGINTEGER", {ValueKind::kBigInt}},
      {"FLOAT", {ValueKind::kFloat}},
      {"DOUBLE", {ValueKind::kDouble}},
      {"BIGDECIMAL", {ValueKind::kBigDecimal}},
      {"NUMBER",
       {ValueKind::kByte, ValueKind::kShort, ValueKind::kInt, ValueKind::kLong, ValueKind::kBigInt,
        ValueKind::kFloat, ValueKind::kDouble, ValueKind::kBigDecimal}},
      {"STRING", {ValueKind::kString}},
      {"CHAR", {ValueKind::kChar}},
      {"CHARACTER", {ValueKind::kChar}},
      {"DATETIME", {ValueKind::kDateTime}},
      {"OFFSETDATETIME", {ValueKind::kDateTime}},
      {"DURATION", {ValueKind::kDuration}},
      {"UUID", {ValueKind::kUuid}},
      {"BINARY", {ValueKind::kBinary}},
      {"LIST", {ValueKind::kList}},
      {"SET", {ValueKind::kSet}},
      {"MAP", {ValueKind::kMap}},
      {"VERTEX", {ValueKind::kVertex}},
      {"EDGE", {ValueKind::kEdge}},
      {"VPROPERTY", {ValueKind::kVertexProperty}},
      {"VERTEXPROPERTY", {ValueKind::kVertexProperty}},
      {"PROPERTY", {ValueKind::kProperty, ValueKind::kVertexProperty}},
      {"PATH", {ValueKind::kPath}},
      {"GRAPH", {}},
      {"TREE", {}},
  };
  return kNames;
}

}  // namespace

std::optional<std::span<const ValueKind>> KindsOfType(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  const auto found = TypeNames().find(upper);
  if (found == TypeNames().end()) return std::nullopt;
  return std::span<const ValueKind>(found->second);
}

std::optional<ValueKind> NumberKindOfType(std::string_view name) {
  const auto kinds = KindsOfType(name);
  if (!kinds.has_value() || kinds->size() != 1) return std::nullopt;
  const ValueKind kind = kinds->front();
  if (kind < ValueKind::kByte || kind > ValueKind::kBigDecimal) return std::nullopt;
  return kind;
}

}  // namespace koios
