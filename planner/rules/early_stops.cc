// Rules for traversals that change the graph: what a limit does not let pass must not be changed
// (engine rule 9).
#include "planner/op_table.h"
#include "planner/plan_error.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

bool TakesOne(const Op& op) {
  const Limit* limit = As<Limit>(op);
  return limit != nullptr && limit->low == 0 && limit->high == 1;
}

// `lazy`: rows that were changed flow here one by one.
Status CheckChain(const Chain& chain, bool* lazy) {
  for (const Op& op : chain.ops) {
    const Limit* limit = As<Limit>(op);
    if (limit != nullptr && limit->high != -1 && *lazy) {
      return NotThereYet(op.span, "",
                         op.step +
                             " stops early behind a step that changes the graph; which "
                             "elements are changed then is not defined yet: put the limit "
                             "before the change, or barrier() or fold() between them");
    }
    if (TraitsOf(op).waits) *lazy = false;
    if (TraitsOf(op).changes_graph) *lazy = true;
    const std::vector<Chain>* children = ChildrenOf(op);
    if (children == nullptr) continue;
    const bool before = *lazy;
    const Scope* scope = As<Scope>(op);
    if (scope != nullptr && scope->stops) continue;
    for (const Chain& child : *children) {
      bool inside = scope != nullptr ? false : before;
      RETURN_IF_ERROR(CheckChain(child, &inside));
      *lazy = *lazy || inside || ChangesGraph(child);
    }
  }
  return OkStatus();
}

}  // namespace

// map(V().property('x', 1)) changes one vertex: the child gets the limit that its scope is.
bool StopBeforeChanges(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (Op& op : chain->ops) {
      Scope* scope = As<Scope>(&op);
      if (scope == nullptr || !TakesOne(*scope)) continue;
      for (Chain& body : scope->bodies) {
        if (!ChangesGraph(body) || TakesOne(body.ops.back())) continue;
        body.ops.push_back({Limit{0, 1}, op.span, op.step});
        changed = true;
      }
    }
    return changed;
  });
}

Status CheckEarlyStops(const Chain& root) {
  bool lazy = false;
  return CheckChain(root, &lazy);
}

}  // namespace koios::planner
