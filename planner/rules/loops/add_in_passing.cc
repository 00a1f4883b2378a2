// local(aggregate('x')) adds each traverser's value as it passes: it needs no instance for each of
// them where nothing behind it may end before all have come, so that nobody can tell how far it
// was ahead.
#include <algorithm>
#include <iterator>

#include "planner/op_table.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

bool StopsEarly(const Op& op) {
  const Limit* limit = As<Limit>(op);
  return (limit != nullptr && limit->high != -1) || As<TimeLimit>(op) != nullptr;
}

// What stands before the aggregate() in a child, as the value of its by().
bool IsValue(const Op& op) {
  const OpTraits traits = TraitsOf(op);
  return traits.every_row && traits.at_most_one && !traits.remembers && !traits.effect &&
         ChildrenOf(op) == nullptr && !ReadsEffects(op);
}

bool OnlyAdds(const Op& op) {
  const Scope* scope = As<Scope>(op);
  if (scope == nullptr || scope->policy != plan::ScopeExit::ALL || scope->bodies.size() != 1) {
    return false;
  }
  const std::vector<Op>& body = scope->bodies[0].ops;
  if (body.empty() || As<Aggregate>(body.back()) == nullptr) return false;
  return std::all_of(body.begin(), std::prev(body.end()), IsValue);
}

// In chains of the whole traversal: in a child a result may be enough.
bool AddIn(Chain* chain) {
  bool changed = false;
  std::vector<Op> ops;
  for (Op& op : chain->ops) {
    if (OnlyAdds(op)) {
      std::vector<Op> body = std::move(As<Scope>(&op)->bodies[0].ops);
      As<Aggregate>(&body.back())->each = true;
      std::move(body.begin(), body.end(), std::back_inserter(ops));
      changed = true;
      continue;
    }
    std::vector<Chain>* children = As<Scope>(op) == nullptr ? ChildrenOf(&op) : nullptr;
    if (children != nullptr) {
      for (Chain& child : *children) changed = AddIn(&child) || changed;
    }
    ops.push_back(std::move(op));
  }
  chain->ops = std::move(ops);
  return changed;
}

}  // namespace

bool AddInPassing(Chain* root) { return !AnyOp(*root, StopsEarly) && AddIn(root); }

}  // namespace koios::planner
