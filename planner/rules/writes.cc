// Rules for traversals that change the graph. What a limit does not let pass must not be changed
// (engine rule 9), and an insert that rests on a look-up is told of it (engine rule 12).
#include <algorithm>
#include <optional>

#include "planner/plan_error.h"
#include "planner/rules/equals_property.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

bool TakesOne(const Scope& scope) {
  return scope.policy == plan::ScopeExit::FIRST || scope.policy == plan::ScopeExit::EXISTS ||
         scope.policy == plan::ScopeExit::EXISTS_FLAG || scope.policy == plan::ScopeExit::NONE;
}

bool TakesOne(const Op& op) {
  const Limit* limit = As<Limit>(op);
  return limit != nullptr && limit->low == 0 && limit->high == 1;
}

bool GathersAll(const Op& op) {
  return As<Order>(op) || As<Reduce>(op) || As<Group>(op) || As<Tail>(op) || As<Sample>(op) ||
         As<Barrier>(op) || As<Aggregate>(op) || As<Cap>(op);
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
    if (GathersAll(op)) *lazy = false;
    if (As<Mutate>(op) && Writes(op)) *lazy = true;
    const std::vector<Chain>* children = ChildrenOf(op);
    if (children == nullptr) continue;
    const bool before = *lazy;
    const Scope* scope = As<Scope>(op);
    if (scope != nullptr && scope->stops) continue;
    for (const Chain& child : *children) {
      bool inside = scope != nullptr ? false : before;
      RETURN_IF_ERROR(CheckChain(child, &inside));
      *lazy = *lazy || inside || Writes(child);
    }
  }
  return OkStatus();
}

bool AddsElements(const Chain& chain) {
  for (const Op& op : chain.ops) {
    const Mutate* mutate = As<Mutate>(op);
    if (mutate != nullptr &&
        (mutate->kind == Mutate::Kind::kAddVertex || mutate->kind == Mutate::Kind::kAddEdge)) {
      return true;
    }
    const std::vector<Chain>* children = ChildrenOf(op);
    if (children == nullptr) continue;
    for (const Chain& child : *children) {
      if (AddsElements(child)) return true;
    }
  }
  return false;
}

// The guards for what a filter behind a scan looks up. Those of many constants are one operation: a
// child that gets the constants, so that a plan does not grow with a list.
void AddGuards(const Source& source, const Expression& test, const Op& filter,
               std::vector<Op>* ops) {
  if (test.kind == Expression::Kind::kCall && (test.name == "or" || test.name == "and")) {
    for (const ExpressionPtr& part : test.args) AddGuards(source, *part, filter, ops);
    return;
  }
  ExpressionPtr key, value;
  ValueList any_of;
  if (!EqualsProperty(test, &key, &value, &any_of)) return;
  Mutate guard;
  guard.kind = Mutate::Kind::kGuard;
  if (source.labels.size() == 1) guard.label = StringConstant(source.labels[0]);
  guard.properties.emplace_back(key, value != nullptr ? value : Current());
  Op op{std::move(guard), filter.span, filter.step};
  if (value == nullptr) {
    Chain body;
    body.ops = {{Inject{std::move(any_of)}, filter.span, filter.step}, std::move(op)};
    op = {ScopeOf(plan::ScopeExit::EFFECT, "", plan::Project::DROP_ROW, std::move(body)),
          filter.span, filter.step};
  }
  ops->push_back(std::move(op));
}

}  // namespace

// map(V().property('x', 1)) changes one vertex: the child gets the limit that its scope is.
bool StopBeforeWrites(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (Op& op : chain->ops) {
      Scope* scope = As<Scope>(&op);
      if (scope == nullptr || !TakesOne(*scope)) continue;
      for (Chain& body : scope->bodies) {
        if (!Writes(body) || TakesOne(body.ops.back())) continue;
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

bool GuardLookups(Chain* root) {
  if (!AddsElements(*root)) return false;
  return ForEachChain(root, [](Chain* chain) {
    std::vector<Op> ops;
    for (size_t i = 0; i < chain->ops.size(); ++i) {
      const Source* source = As<Source>(chain->ops[i]);
      if (source != nullptr && !source->ids) {
        for (size_t k = i + 1; k < chain->ops.size() && As<Filter>(chain->ops[k]); ++k) {
          AddGuards(*source, *As<Filter>(chain->ops[k])->predicate, chain->ops[k], &ops);
        }
      }
      ops.push_back(std::move(chain->ops[i]));
    }
    const bool changed = ops.size() > chain->ops.size();
    chain->ops = std::move(ops);
    return changed;
  });
}

}  // namespace koios::planner
