// where(out().has('x', 1)), by(out().count()), local(out().limit(2)): the child runs for a batch of
// rows at once, where they are, instead of as an instance per row. Where it does not help: behind
// many hops, where rows that meet are worth merging (merge_bulk has put a Merge there); loops and
// branches, which need instances.
#include <algorithm>

#include "planner/op_table.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

bool MayRunInPlace(const Scope& scope) {
  if (scope.bodies.size() != 1 || !scope.carried.empty()) return false;
  if (scope.policy == plan::ScopeExit::EFFECT) return false;
  const std::vector<Op>& ops = scope.bodies[0].ops;
  return std::all_of(ops.begin(), ops.end(), [](const Op& op) { return TraitsOf(op).in_place; });
}

}  // namespace

bool RunInPlace(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (Op& op : chain->ops) {
      Scope* scope = As<Scope>(&op);
      if (scope == nullptr || scope->in_place) continue;
      scope->in_place = MayRunInPlace(*scope);
      changed = changed || scope->in_place;
    }
    return changed;
  });
}

}  // namespace koios::planner
