// where(values('age').is(gt(3))), by(out().count()), not(has('x')): one expression instead of a
// scope with its instances.
#include "planner/op_table.h"
#include "planner/rules/rules.h"
#include "planner/rules/simple_body.h"

namespace koios::planner {
namespace {

// A flag is never absent: and() of one condition makes it false.
ExpressionPtr AsFlag(ExpressionPtr condition) {
  if (IsCallWith(*condition, plan::kAlwaysThere)) return condition;
  return CallOf("and", {std::move(condition)});
}

// What replaces the scope's operation; false: nothing simple.
bool Inline(const Scope& scope, Op* op) {
  if (scope.policy == plan::ScopeExit::FIRST || scope.policy == plan::ScopeExit::ALL) {
    if (!scope.carried.empty()) return false;
    ExpressionPtr value = SimpleValue(scope.bodies[0]);
    if (value == nullptr) return false;
    op->body = Project{std::move(value), scope.target, scope.absent};
    return true;
  }
  if (scope.policy == plan::ScopeExit::OPTIONAL) return false;
  if (HasEffects(*op)) return false;
  if (scope.policy == plan::ScopeExit::EFFECT) {
    op->body = Filter{Constant(Value::Bool(true))};
    return true;
  }
  ExpressionPtr exists = SimpleExists(scope.bodies[0]);
  if (exists == nullptr) return false;
  if (scope.policy == plan::ScopeExit::EXISTS_FLAG) {
    op->body = Project{AsFlag(std::move(exists)), scope.target, plan::Project::DROP_ROW};
  } else if (scope.policy == plan::ScopeExit::NONE) {
    op->body = Filter{CallOf("not", {std::move(exists)})};
  } else {
    op->body = Filter{std::move(exists)};
  }
  return true;
}

}  // namespace

bool InlineScopes(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (Op& op : chain->ops) {
      const Scope* scope = As<Scope>(op);
      if (scope == nullptr || scope->bodies.size() != 1) continue;
      const Scope copy = *scope;
      changed = Inline(copy, &op) || changed;
    }
    std::erase_if(chain->ops, [](const Op& op) {
      const Filter* filter = As<Filter>(op);
      return filter != nullptr && IsTrue(*filter->predicate);
    });
    return changed;
  });
}

}  // namespace koios::planner
