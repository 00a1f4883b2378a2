// Filters move towards the source over what they commute with; those that the source can take
// (labels, ids) move before other filters too.
#include "planner/op_table.h"
#include "planner/rules/fold_source.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// Bounds the work in long chains.
constexpr size_t kMaxFilterMoves = 64;

bool CommutesWith(const Filter& filter, const Op& before) {
  if (HasEffects(before) || !IsPure(*filter.predicate)) return false;
  std::set<std::string> names;
  CollectNames(*filter.predicate, &names);
  if (const Project* project = As<Project>(before)) {
    return !project->target.empty() && !names.contains(project->target);
  }
  if (As<Order>(before)) return true;
  if (const Dedup* dedup = As<Dedup>(before)) {
    return names.empty() && dedup->keys.size() == 1 && dedup->keys[0].empty();
  }
  if (const Scope* scope = As<Scope>(before)) {
    switch (scope->policy) {
      case plan::ScopeExit::EXISTS:
      case plan::ScopeExit::NONE:
        return true;
      case plan::ScopeExit::EXISTS_FLAG:
      case plan::ScopeExit::FIRST:
        return !scope->target.empty() && !names.contains(scope->target);
      default:
        return false;
    }
  }
  if (const Filter* other = As<Filter>(before)) {
    return IsPure(*other->predicate) && IsSourceFilter(filter) && !IsSourceFilter(*other);
  }
  return false;
}

}  // namespace

bool PushFilters(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (size_t i = 1; i < chain->ops.size(); ++i) {
      for (size_t at = i; at > 0 && i - at < kMaxFilterMoves; --at) {
        const Filter* filter = As<Filter>(chain->ops[at]);
        if (filter == nullptr || !CommutesWith(*filter, chain->ops[at - 1])) break;
        std::swap(chain->ops[at], chain->ops[at - 1]);
        changed = true;
      }
    }
    return changed;
  });
}

}  // namespace koios::planner
