#include "planner/changes.h"

#include <algorithm>

#include "core/value_compare.h"
#include "planner/op_table.h"

namespace koios::planner {
namespace {

using Visit = std::function<void(const Op&)>;

void ForEachOp(std::span<const Op> ops, const Visit& visit) {
  for (const Op& op : ops) {
    visit(op);
    const std::vector<Chain>* children = ChildrenOf(op);
    if (children == nullptr) continue;
    for (const Chain& child : *children) ForEachOp(child.ops, visit);
  }
}

// The key that a change sets; nullptr: it is computed.
const Value* KeyOf(const Mutate& change) {
  const Expression& key = *change.properties[0].first;
  return key.kind == Expression::Kind::kConstant ? &key.constant.Look() : nullptr;
}

bool ReadsEdges(const Expression& expression) { return HasCallWith(expression, plan::kReadsEdges); }

bool ReadsKey(const Expression& expression, const Value* key) {
  if (IsCallWith(expression, plan::kReadsProperties)) return true;
  if (IsCallWith(expression, plan::kReadsProperty)) {
    const Value* read = PropertyRead(expression);
    if (key == nullptr || read == nullptr || Equals(*read, *key)) return true;
  }
  return std::any_of(expression.args.begin(), expression.args.end(),
                     [key](const ExpressionPtr& arg) { return ReadsKey(*arg, key); });
}

bool AnyExpression(const Op& op, const std::function<bool(const Expression&)>& test) {
  bool any = false;
  ForEachExpression(op, [&](const Expression& expression) { any = any || test(expression); });
  return any;
}

bool SeesKey(const Op& op, const Value* key) {
  if (const Fetch* fetch = As<Fetch>(op)) {
    return key == nullptr || key->kind() != ValueKind::kString || fetch->keys.empty() ||
           std::find(fetch->keys.begin(), fetch->keys.end(), key->AsString()) != fetch->keys.end();
  }
  return AnyExpression(op, [key](const Expression& part) { return ReadsKey(part, key); });
}

// Two changes whose order matters.
bool Collide(const Mutate& one, const Mutate& other) {
  using Kind = Mutate::Kind;
  if (one.kind == Kind::kGuard || other.kind == Kind::kGuard) return false;
  if (one.kind == Kind::kDrop || other.kind == Kind::kDrop) return true;
  if (one.kind != Kind::kSetProperty || other.kind != Kind::kSetProperty) return false;
  const Value* key = KeyOf(one);
  const Value* other_key = KeyOf(other);
  return key == nullptr || other_key == nullptr || Equals(*key, *other_key);
}

// `op` alone, without its children.
bool SeesChange(const Op& op, const Mutate& change) {
  const Mutate* again = As<Mutate>(op);
  if (again != nullptr && Collide(*again, change)) return true;
  const Source* source = As<Source>(op);
  switch (change.kind) {
    case Mutate::Kind::kAddVertex:
      return source != nullptr && source->element == plan::VERTEX;
    case Mutate::Kind::kAddEdge:
      return (source != nullptr && source->element == plan::EDGE) || As<Expand>(op) ||
             AnyExpression(op, ReadsEdges);
    case Mutate::Kind::kSetProperty:
      return SeesKey(op, KeyOf(change));
    case Mutate::Kind::kDrop:
      return ReadsGraphItself(op);
    case Mutate::Kind::kGuard:
      return false;
  }
  return true;
}

}  // namespace

bool Sees(std::span<const Op> reader, std::span<const Op> writer) {
  std::vector<const Mutate*> changes;
  ForEachOp(writer, [&changes](const Op& op) {
    if (const Mutate* change = As<Mutate>(op)) changes.push_back(change);
  });
  bool sees = false;
  ForEachOp(reader, [&](const Op& op) {
    for (const Mutate* change : changes) sees = sees || SeesChange(op, *change);
  });
  return sees;
}

}  // namespace koios::planner
