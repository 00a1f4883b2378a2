// Limit(0, -1), Filter(true), Project(_ = _) and scopes whose body is empty.
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

bool KeepsEveryRow(const Scope& scope) {
  if (!scope.bodies[0].ops.empty()) return false;
  switch (scope.policy) {
    case plan::ScopeExit::EXISTS:
    case plan::ScopeExit::ALL:  // of coalesce too: the first alternative always gives
    case plan::ScopeExit::OPTIONAL:
    case plan::ScopeExit::EFFECT:
      return true;
    case plan::ScopeExit::FIRST:
      return scope.target.empty();
    default:
      return false;
  }
}

bool IsIdentity(const Op& op) {
  if (const Limit* limit = As<Limit>(op)) return limit->low == 0 && limit->high == -1;
  if (const Filter* filter = As<Filter>(op)) return IsTrue(*filter->predicate);
  if (const Project* project = As<Project>(op)) {
    return project->target.empty() && IsCurrent(*project->value);
  }
  if (const Scope* scope = As<Scope>(op)) return KeepsEveryRow(*scope);
  return false;
}

}  // namespace

bool RemoveIdentity(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    return std::erase_if(chain->ops, [](const Op& op) { return IsIdentity(op); }) > 0;
  });
}

}  // namespace koios::planner
