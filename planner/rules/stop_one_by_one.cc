// What a limit behind a change does not let pass must not be changed (engine rule 9). Where it
// cannot move before the change, one traverser is changed and goes on as far as the limit before
// the next one is. TinkerPop's limit notices its end by the first traverser too many: what that one
// needs is changed too, and so it is here.
// Only where TinkerPop lets traversers through one by one for certain: it puts barriers of its own
// between two steps of which each gives several results for one.
#include <cstdint>

#include "planner/op_table.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

bool IsChange(const Op& op) {
  const Scope* scope = As<Scope>(op);
  return TraitsOf(op).changes_graph ||
         (scope != nullptr && scope->policy == plan::ScopeExit::EFFECT && ChangesGraph(op));
}

bool KeepsOrDrops(const Op& op) {
  const OpTraits traits = TraitsOf(op);
  return traits.at_most_one && !traits.waits && !HasEffects(op);
}

bool StoresOnly(const Op& op) {
  const Project* project = As<Project>(op);
  return project != nullptr && !project->target.empty();
}

// From the first change on to the limit at `end`; `end`: it cannot be told.
size_t BeginOfStage(const Chain& chain, size_t end) {
  size_t at = end;
  while (at > 0 && StoresOnly(chain.ops[at - 1])) --at;
  if (at > 0 && TraitsOf(chain.ops[at - 1]).fans_out) --at;
  // Edges and their ends are one step to TinkerPop.
  if (at > 0 && at < end && As<EdgeEnd>(chain.ops[at])) {
    while (at > 0 && StoresOnly(chain.ops[at - 1])) --at;
    const Expand* edges = at > 0 ? As<Expand>(chain.ops[at - 1]) : nullptr;
    if (edges != nullptr && edges->to == plan::Expand::INCIDENT) --at;
  }
  size_t begin = end;
  for (; at > 0; --at) {
    const Op& op = chain.ops[at - 1];
    if (IsChange(op)) {
      begin = at - 1;
    } else if (!KeepsOrDrops(op)) {
      break;
    }
  }
  return begin;
}

// `at`: becomes where the stage begins.
bool StopAt(Chain* chain, size_t limit_at, size_t* at) {
  const Limit limit = *As<Limit>(chain->ops[limit_at]);
  if (limit.high == -1 || limit.high == INT64_MAX) return false;
  const size_t begin = BeginOfStage(*chain, limit_at);
  if (begin == limit_at) return false;
  const auto first = chain->ops.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = chain->ops.begin() + static_cast<std::ptrdiff_t>(limit_at);
  const SourceSpan span = last->span;
  const std::string step = last->step;
  Chain body;
  body.ops.assign(std::make_move_iterator(first), std::make_move_iterator(last));
  Scope scope = ScopeOf(plan::ScopeExit::ALL, "", plan::Project::DROP_ROW, std::move(body));
  scope.keeps_labels = true;
  scope.stops = true;
  chain->ops.erase(first, last);
  std::vector<Op> stage;
  stage.push_back({std::move(scope), span, step});
  stage.push_back({Limit{0, limit.high + 1}, span, step});
  stage.push_back({Barrier{true}, span, step});
  chain->ops.insert(chain->ops.begin() + static_cast<std::ptrdiff_t>(begin),
                    std::make_move_iterator(stage.begin()), std::make_move_iterator(stage.end()));
  *at = begin;
  return true;
}

bool StopIn(Chain* chain) {
  bool changed = false;
  for (size_t i = chain->ops.size(); i-- > 0;) {
    if (Scope* scope = As<Scope>(&chain->ops[i])) {
      for (Chain& body : scope->bodies) changed = StopIn(&body) || changed;
    }
    if (As<Limit>(chain->ops[i])) changed = StopAt(chain, i, &i) || changed;
  }
  return changed;
}

}  // namespace

bool StopOneByOne(Chain* root) { return StopIn(root); }

}  // namespace koios::planner
