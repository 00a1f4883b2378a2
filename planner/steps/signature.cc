#include "planner/steps/signature.h"

#include <algorithm>
#include <array>

namespace koios::planner {
namespace {

constexpr std::array<std::string_view, 25> kKinds = {
    "string", "integer",     "number", "boolean", "datetime",  "null",     "list",
    "map",    "value",       "P",      "T",       "traversal", "Scope",    "Order",
    "Pop",    "Column",      "Pick",   "DT",      "Direction", "Operator", "Cardinality",
    "Merge",  "WithOptions", "GType",  "Barrier"};

std::vector<std::string> SplitAt(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + separator.size();
  }
}

ArgumentSpec ParseArgument(std::string text) {
  ArgumentSpec spec;
  const char last = text.back();
  if (last == '?' || last == '*' || last == '+') {
    spec.optional = last != '+';
    spec.repeated = last != '?';
    text.pop_back();
  }
  const size_t colon = text.find(':');
  spec.name = text.substr(0, colon);
  spec.kinds = SplitAt(std::string_view(text).substr(colon + 1), "/");
  return spec;
}

// Asks for its kind only: a plan is for all values of a kind as long as nobody reads them.
bool ValueIsKind(const PlanValue& value, std::string_view kind) {
  if (kind == "value") return true;
  if (kind == "string") return value.kind() == ValueKind::kString;
  if (kind == "integer") {
    return value.kind() >= ValueKind::kByte && value.kind() <= ValueKind::kLong;
  }
  if (kind == "number") {
    return value.kind() >= ValueKind::kByte && value.kind() <= ValueKind::kBigDecimal;
  }
  if (kind == "boolean") return value.kind() == ValueKind::kBool;
  if (kind == "datetime") return value.kind() == ValueKind::kDateTime;
  if (kind == "null") return value.is_null();
  if (kind == "list") return value.is_collection();
  if (kind == "map") return value.kind() == ValueKind::kMap;
  return false;
}

bool IsOfKind(const Bound& bound, std::string_view kind) {
  switch (bound.kind) {
    case Bound::Kind::kValue:
      return ValueIsKind(bound.value, kind);
    case Bound::Kind::kEnum:
      return kind == bound.qualifier;
    case Bound::Kind::kPredicate:
      return kind == "P";
    case Bound::Kind::kTraversal:
      return kind == "traversal";
  }
  return false;
}

bool Accepts(const ArgumentSpec& spec, const Bound& bound) {
  return std::any_of(spec.kinds.begin(), spec.kinds.end(),
                     [&](const std::string& kind) { return IsOfKind(bound, kind); });
}

}  // namespace

std::vector<Signature> ParseSignatures(std::string_view text) {
  std::vector<Signature> signatures;
  for (const std::string& alternative : SplitAt(text, " | ")) {
    Signature signature;
    if (!alternative.empty() && alternative != "()") {
      for (std::string& argument : SplitAt(alternative, ", ")) {
        signature.push_back(ParseArgument(std::move(argument)));
      }
    }
    signatures.push_back(std::move(signature));
  }
  return signatures;
}

bool MatchesSignature(const Signature& signature, const std::vector<Bound>& arguments) {
  size_t at = 0;
  for (const ArgumentSpec& spec : signature) {
    size_t taken = 0;
    while (at < arguments.size() && (taken == 0 || spec.repeated) && Accepts(spec, arguments[at])) {
      ++at;
      ++taken;
    }
    if (taken == 0 && !spec.optional) return false;
  }
  return at == arguments.size();
}

std::string SignatureText(std::string_view step, const Signature& signature) {
  std::string text = std::string(step) + "(";
  for (size_t i = 0; i < signature.size(); ++i) {
    const ArgumentSpec& spec = signature[i];
    if (i > 0) text += ", ";
    text += spec.name + ": ";
    for (size_t k = 0; k < spec.kinds.size(); ++k) {
      text += (k > 0 ? "|" : "") + spec.kinds[k];
    }
    if (spec.repeated) text += "...";
    if (spec.optional && !spec.repeated) text += "?";
  }
  return text + ")";
}

bool IsKnownKind(std::string_view kind) {
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

}  // namespace koios::planner
