#include "planner/expression.h"

#include <algorithm>

#include "parser/printer.h"

namespace koios::planner {
namespace {

constexpr size_t kMaxTextMembers = 8;
constexpr size_t kMaxTextBytes = 40;

ExpressionPtr Rebuild(const Expression& call, std::vector<ExpressionPtr> args) {
  return CallOf(*call.function, std::move(args));
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

// Of all calls in it.
template <typename Test>
bool AllFunctions(const Expression& expression, const Test& test) {
  if (expression.kind == Expression::Kind::kCall && !test(*expression.function)) return false;
  return std::all_of(expression.args.begin(), expression.args.end(),
                     [&](const ExpressionPtr& arg) { return AllFunctions(*arg, test); });
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

ExpressionPtr Constant(PlanValue value) {
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

ExpressionPtr CallOf(plan::FunctionRef function, std::vector<ExpressionPtr> args) {
  auto node = std::make_shared<Expression>();
  node->kind = Expression::Kind::kCall;
  node->function = &*function;
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

ExpressionPtr HasLabel(const std::vector<std::string>& labels) {
  std::vector<ExpressionPtr> args = {Current()};
  for (const std::string& label : labels) args.push_back(StringConstant(label));
  return CallOf("label_in", std::move(args));
}

ExpressionPtr PropertyOf(ExpressionPtr element, std::string key) {
  return CallOf("property", {std::move(element), StringConstant(std::move(key))});
}

bool Fits(const Expression& expression) {
  return expression.depth <= kMaxExpressionDepth && expression.size <= kMaxExpressionSize;
}

bool SameExpression(const Expression& a, const Expression& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.name != b.name || a.function != b.function ||
      a.args.size() != b.args.size()) {
    return false;
  }
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

bool IsCall(const Expression& expression, plan::FunctionRef function) {
  return expression.function == &*function;
}

bool IsCallWith(const Expression& expression, uint32_t traits) {
  return expression.function != nullptr && expression.function->Has(traits);
}

bool HasCallWith(const Expression& expression, uint32_t traits) {
  return !AllFunctions(expression, [traits](const auto& row) { return !row.Has(traits); });
}

const Value* PropertyRead(const Expression& call) {
  const Expression& key = *call.args[1];
  return key.kind == Expression::Kind::kConstant ? &key.constant.Look() : nullptr;
}

bool IsStrict(const Expression& expression) {
  return AllFunctions(expression, [](const auto& row) { return row.Has(plan::kStrict); });
}

bool IsPure(const Expression& expression) {
  return AllFunctions(expression, [](const auto& row) { return row.IsPure(); });
}

std::string ConstantsText(const ValueList& values) { return "[" + MembersText(values) + "]"; }

std::string ConstantsText(const PlanValues& values) {
  return ConstantsText(ValueList(values.begin(), values.end()));
}

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
  std::string text = std::string(expression.function->name) + "(";
  for (size_t i = 0; i < expression.args.size(); ++i) {
    if (i > 0) text += ", ";
    text += ExpressionText(*expression.args[i]);
  }
  return text + ")";
}

}  // namespace koios::planner
