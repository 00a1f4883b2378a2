#include "planner/expression.h"

#include <algorithm>
#include <array>
#include <span>

#include "parser/printer.h"

namespace koios::planner {
namespace {

constexpr size_t kMaxTextMembers = 8;
constexpr size_t kMaxTextBytes = 40;

ExpressionPtr Rebuild(const Expression& call, std::vector<ExpressionPtr> args) {
  return CallOf(call.name, std::move(args));
}

template <typename Leaf>
ExpressionPtr Replace(const ExpressionPtr& expression, const Leaf& leaf) {
  if (expression->kind != Expression::Kind::kCall) return leaf(expression);
  std::vector<ExpressionPtr> args;
  args.reserve(expression->args.size());
  bool changed = false;
  for (const ExpressionPtr& arg : expression->args) {
    args.push_back(Replace(arg, leaf));
    changed = changed || args.back() != arg;
  }
  return changed ? Rebuild(*expression, std::move(args)) : expression;
}

bool CallsNoneOf(std::span<const std::string_view> functions, const Expression& expression) {
  if (expression.kind == Expression::Kind::kCall &&
      std::find(functions.begin(), functions.end(), expression.name) != functions.end()) {
    return false;
  }
  return std::all_of(expression.args.begin(), expression.args.end(),
                     [&](const ExpressionPtr& arg) { return CallsNoneOf(functions, *arg); });
}

std::string MembersText(const ValueList& members) {
  std::string text;
  for (size_t i = 0; i < members.size(); ++i) {
    if (i > 0) text += ", ";
    if (i == kMaxTextMembers) return text + "... " + std::to_string(members.size());
    text += ConstantText(members[i]);
  }
  return text;
}

std::string MapText(const ValueMap& map) {
  std::string text;
  for (size_t i = 0; i < map.size(); ++i) {
    if (i > 0) text += ", ";
    if (i == kMaxTextMembers) return text + "... " + std::to_string(map.size());
    text += ConstantText(map[i].first) + ":" + ConstantText(map[i].second);
  }
  return text;
}

}  // namespace

ExpressionPtr Constant(Value value) {
  auto node = std::make_shared<Expression>();
  node->kind = Expression::Kind::kConstant;
  node->constant = std::move(value);
  return node;
}

ExpressionPtr Current() {
  static const ExpressionPtr kNode = std::make_shared<Expression>();
  return kNode;
}

ExpressionPtr Named(std::string name) {
  auto node = std::make_shared<Expression>();
  node->kind = Expression::Kind::kNamed;
  node->name = std::move(name);
  return node;
}

ExpressionPtr CallOf(std::string function, std::vector<ExpressionPtr> args) {
  auto node = std::make_shared<Expression>();
  node->kind = Expression::Kind::kCall;
  node->name = std::move(function);
  uint64_t size = 1;
  for (const ExpressionPtr& arg : args) {
    node->depth = std::max(node->depth, arg->depth + 1);
    size += arg->size;
  }
  node->size = static_cast<uint32_t>(std::min<uint64_t>(size, UINT32_MAX));
  node->args = std::move(args);
  return node;
}

ExpressionPtr StringConstant(std::string text) { return Constant(Value::String(std::move(text))); }

ExpressionPtr PropertyOf(ExpressionPtr element, std::string key) {
  return CallOf("property", {std::move(element), StringConstant(std::move(key))});
}

bool Fits(const Expression& expression) {
  return expression.depth <= kMaxExpressionDepth && expression.size <= kMaxExpressionSize;
}

bool SameExpression(const Expression& a, const Expression& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.name != b.name || a.args.size() != b.args.size()) return false;
  if (a.kind == Expression::Kind::kConstant) return false;  // shared constants are the same node
  for (size_t i = 0; i < a.args.size(); ++i) {
    if (!SameExpression(*a.args[i], *b.args[i])) return false;
  }
  return true;
}

bool IsCurrent(const Expression& expression) {
  return expression.kind == Expression::Kind::kCurrent;
}

bool IsTrue(const Expression& expression) {
  return expression.kind == Expression::Kind::kConstant &&
         expression.constant.kind() == ValueKind::kBool && expression.constant.AsBool();
}

ExpressionPtr ReplaceCurrent(const ExpressionPtr& expression, const ExpressionPtr& by) {
  return Replace(expression,
                 [&](const ExpressionPtr& leaf) { return IsCurrent(*leaf) ? by : leaf; });
}

ExpressionPtr ReplaceNamed(const ExpressionPtr& expression, std::string_view name,
                           const ExpressionPtr& by) {
  return Replace(expression, [&](const ExpressionPtr& leaf) {
    return leaf->kind == Expression::Kind::kNamed && leaf->name == name ? by : leaf;
  });
}

ExpressionPtr ReplaceLeaves(const ExpressionPtr& expression,
                            const std::function<ExpressionPtr(const ExpressionPtr&)>& leaf) {
  return Replace(expression, leaf);
}

bool ReadsCurrent(const Expression& expression) {
  if (IsCurrent(expression)) return true;
  return std::any_of(expression.args.begin(), expression.args.end(),
                     [](const ExpressionPtr& arg) { return ReadsCurrent(*arg); });
}

void CollectNames(const Expression& expression, std::set<std::string>* names) {
  if (expression.kind == Expression::Kind::kNamed) names->insert(expression.name);
  for (const ExpressionPtr& arg : expression.args) CollectNames(*arg, names);
}

bool ReadsStoredData(std::string_view function) {
  static constexpr std::array<std::string_view, 11> kFunctions = {
      "property", "by_key", "id",        "with_id",     "has_id",      "label",
      "label_in", "degree", "value_map", "element_map", "property_map"};
  return std::find(kFunctions.begin(), kFunctions.end(), function) != kFunctions.end();
}

bool IsOrdering(std::string_view function) {
  return IsComparison(function) && function != "eq" && function != "neq";
}

bool IsComparison(std::string_view function) {
  static constexpr std::array<std::string_view, 6> kFunctions = {"eq",  "neq", "lt",
                                                                 "lte", "gt",  "gte"};
  return std::find(kFunctions.begin(), kFunctions.end(), function) != kFunctions.end();
}

bool IsTextPredicate(std::string_view function) {
  static constexpr std::array<std::string_view, 8> kFunctions = {
      "startingWith",  "endingWith",    "containing", "notStartingWith",
      "notEndingWith", "notContaining", "regex",      "notRegex"};
  return std::find(kFunctions.begin(), kFunctions.end(), function) != kFunctions.end();
}

bool IsPredicate(std::string_view function) {
  static constexpr std::array<std::string_view, 6> kOthers = {
      "has_id", "in_side_effect", "within", "without", "label_in", "typeOf"};
  return IsComparison(function) || IsTextPredicate(function) ||
         std::find(kOthers.begin(), kOthers.end(), function) != kOthers.end();
}

bool IsStrict(const Expression& expression) {
  static constexpr std::array<std::string_view, 6> kLenient = {"and",     "or",     "not",
                                                               "present", "map_of", "first_of"};
  return CallsNoneOf(kLenient, expression);
}

bool IsOnce(const Expression& expression) {
  return expression.kind == Expression::Kind::kCall && expression.name == "once";
}

bool IsPure(const Expression& expression) {
  static constexpr std::array<std::string_view, 6> kImpure = {
      "side_effect", "in_side_effect", "list_sample", "require", "require_label", "once"};
  return CallsNoneOf(kImpure, expression);
}

std::string ConstantsText(const ValueList& values) { return "[" + MembersText(values) + "]"; }

std::string ConstantText(const Value& value) {
  if (value.kind() == ValueKind::kList) return ConstantsText(value.AsList());
  if (value.kind() == ValueKind::kSet) return "{" + MembersText(value.AsList()) + "}";
  if (value.kind() == ValueKind::kMap) {
    return "[" + (value.AsMap().empty() ? std::string(":") : MapText(value.AsMap())) + "]";
  }
  std::string text = parser::ToText(value);
  if (text.size() <= kMaxTextBytes) return text;
  size_t cut = kMaxTextBytes;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return text.substr(0, cut) + "...";
}

std::string ExpressionText(const Expression& expression) {
  switch (expression.kind) {
    case Expression::Kind::kConstant:
      return ConstantText(expression.constant);
    case Expression::Kind::kCurrent:
      return "_";
    case Expression::Kind::kNamed:
      return expression.name;
    case Expression::Kind::kCall:
      break;
  }
  std::string text = expression.name + "(";
  for (size_t i = 0; i < expression.args.size(); ++i) {
    if (i > 0) text += ", ";
    text += ExpressionText(*expression.args[i]);
  }
  return text + ")";
}

}  // namespace koios::planner
