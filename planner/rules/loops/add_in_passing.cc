// local(aggregate('x')) adds each traverser's value as it passes: it needs no instance for each of
// them where nobody can tell how far it was ahead: nothing may end before all have come, and only a
// cap() of the whole traversal reads what is gathered.
#include <algorithm>
#include <iterator>
#include <set>

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

// What is read before all has come: by expressions, by children.
std::set<std::string> ReadInPassing(const Chain& root) {
  std::set<std::string> names;
  for (const Op& op : root.ops) CollectEffectReads(op, &names);
  AnyOp(root, [&names](const Op& op) {
    if (As<Scope>(op) == nullptr) return false;
    return AnyOp(op, [&names](const Op& inner) {
      const Cap* cap = As<Cap>(inner);
      if (cap != nullptr) names.insert(cap->names.begin(), cap->names.end());
      return false;
    });
  });
  return names;
}

bool OnlyAdds(const Op& op, const std::set<std::string>& read) {
  const Scope* scope = As<Scope>(op);
  if (scope == nullptr || scope->policy != plan::ScopeExit::ALL || !scope->keeps_labels) {
    return false;
  }
  const std::vector<Op>& body = scope->bodies[0].ops;
  const Aggregate* aggregate = body.empty() ? nullptr : As<Aggregate>(body.back());
  if (aggregate == nullptr || read.contains(aggregate->name)) return false;
  return std::all_of(body.begin(), std::prev(body.end()), IsValue);
}

// In chains of the whole traversal: in a child a result may be enough.
bool AddIn(Chain* chain, const std::set<std::string>& read) {
  bool changed = false;
  std::vector<Op> ops;
  for (Op& op : chain->ops) {
    if (OnlyAdds(op, read)) {
      std::vector<Op> body = std::move(As<Scope>(&op)->bodies[0].ops);
      As<Aggregate>(&body.back())->each = true;
      std::move(body.begin(), body.end(), std::back_inserter(ops));
      changed = true;
      continue;
    }
    std::vector<Chain>* children = As<Scope>(op) == nullptr ? ChildrenOf(&op) : nullptr;
    if (children != nullptr) {
      for (Chain& child : *children) changed = AddIn(&child, read) || changed;
    }
    ops.push_back(std::move(op));
  }
  chain->ops = std::move(ops);
  return changed;
}

}  // namespace

bool AddInPassing(Chain* root) {
  return !AnyOp(*root, StopsEarly) && AddIn(root, ReadInPassing(*root));
}

}  // namespace koios::planner
