// local(out().has('x', 1)) is out().has('x', 1): what remembers nothing of its instance needs none.
#include <algorithm>
#include <iterator>

#include "planner/op_table.h"
#include "planner/rules/rules.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

// Labels and path inside flatMap() stay inside; unnesting would show them.
bool StoresHistory(const Chain& chain) {
  std::set<std::string> names;
  CollectStores(chain, &names);
  return std::any_of(names.begin(), names.end(), IsOfHistory);
}

bool CanUnnest(const Op& op) {
  const Scope* scope = As<Scope>(op);
  if (scope == nullptr || scope->policy != plan::ScopeExit::ALL || scope->bodies.size() != 1) {
    return false;
  }
  return IsStateless(scope->bodies[0]) && (scope->keeps_labels || !StoresHistory(scope->bodies[0]));
}

}  // namespace

bool UnnestLocal(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    std::vector<Op> ops;
    for (Op& op : chain->ops) {
      if (!CanUnnest(op)) {
        ops.push_back(std::move(op));
        continue;
      }
      std::vector<Op> body = std::move(As<Scope>(&op)->bodies[0].ops);
      std::move(body.begin(), body.end(), std::back_inserter(ops));
      changed = true;
    }
    chain->ops = std::move(ops);
    return changed;
  });
}

}  // namespace koios::planner
