// where(out('tag').has('name', x)): instead of walking on from every row, the few vertices of that
// name are looked up and walked back from, once there have been rows enough. Where it helps: what
// is asked at the end says which few vertices these are (walks.h). Not where the query changes the
// graph: what a set of vertices was made of may have changed.
#include "planner/op_table.h"
#include "planner/rules/rules.h"
#include "planner/rules/walks/walks.h"

namespace koios::planner {
namespace {

// Of the end of a body that are looked at.
constexpr size_t kMostOps = 2 * kMostHops;

bool OnlyAsks(const Scope& scope) {
  return scope.bodies.size() == 1 && scope.carried.empty() &&
         (scope.policy == plan::ScopeExit::EXISTS || scope.policy == plan::ScopeExit::NONE ||
          scope.policy == plan::ScopeExit::EXISTS_FLAG);
}

plan::Reach::Result ResultOf(plan::ScopeExit::Policy policy) {
  return policy == plan::ScopeExit::NONE          ? plan::Reach::STOP
         : policy == plan::ScopeExit::EXISTS_FLAG ? plan::Reach::FLAG
                                                  : plan::Reach::PASS;
}

// The body's operations from `begin` on as one.
std::optional<Reach> ReachFrom(const Chain& body, size_t begin, const Source& all) {
  std::optional<ParsedWalk> walk = WalkOf(body, begin, body.ops.size());
  if (!walk) return std::nullopt;
  std::optional<WalkEnds> ends = walk->ends ? walk->ends : EndsOf(walk->end_filters, all);
  if (!ends) return std::nullopt;
  Reach reach;
  reach.hops = std::move(walk->hops);
  reach.ends = *std::move(ends);
  return reach;
}

// ~e1 of a first operation ~e1 = a: the same wherever the body reads it.
const Project* AliasAt(const Chain& body) {
  if (body.ops.empty()) return nullptr;
  const Project* project = As<Project>(body.ops[0]);
  const bool alias = project != nullptr && !project->target.empty() &&
                     project->value->kind == Expression::Kind::kNamed &&
                     project->absent == plan::Project::DROP_ROW;
  return alias ? project : nullptr;
}

bool RewriteEnds(Op* op, const Source& all) {
  Scope* scope = As<Scope>(op);
  if (scope == nullptr || !OnlyAsks(*scope)) return false;
  Chain& body = scope->bodies[0];
  const Project* alias = AliasAt(body);
  std::optional<Reach> whole = ReachFrom(body, alias == nullptr ? 0 : 1, all);
  if (whole && (alias == nullptr || whole->ends.name == alias->target)) {
    if (alias != nullptr) whole->ends.name = alias->value->name;
    whole->result = ResultOf(scope->policy);
    whole->target = scope->target;
    op->span = body.ops[alias == nullptr ? 0 : 1].span;
    op->body = *std::move(whole);
    return true;
  }
  // Of what comes first one result is as good as another: only whether there is one is asked.
  const size_t ops = body.ops.size();
  for (size_t begin = ops > kMostOps ? ops - kMostOps : 1; begin + 1 < body.ops.size(); ++begin) {
    std::optional<Reach> rest = ReachFrom(body, begin, all);
    if (!rest || As<Reach>(body.ops[begin])) continue;
    body.ops[begin].body = *std::move(rest);
    body.ops.resize(begin + 1);
    return true;
  }
  return false;
}

// A label is read for every row; a set of few vertices is asked sooner. Ends that are looked for
// among many are not a set of few: rows would be walked from before their labels are known.
bool IsLabelFilter(const Op& op) {
  const Filter* filter = As<Filter>(op);
  return filter != nullptr && IsCall(*filter->predicate, "label_in") &&
         IsCurrent(*filter->predicate->args[0]);
}

// Whether operation `at` is better asked before the label of the vertices that it is about.
bool GoesFirst(const std::vector<Op>& ops, size_t at) {
  if (at < 2 || !IsLabelFilter(ops[at - 1])) return false;
  const Reach* reach = As<Reach>(ops[at]);
  const Expand* expand = As<Expand>(ops[at - 2]);
  return reach != nullptr && reach->result == plan::Reach::PASS &&
         (reach->ends.ids || reach->ends.scan.seek) && expand != nullptr &&
         expand->to == plan::Expand::NEIGHBOUR;
}

}  // namespace

bool ReachEnds(Chain* root) {
  if (ChangesGraph(*root)) return false;
  const Source all = SourceOfAll(*root);
  return ForEachChain(root, [&all](Chain* chain) {
    bool changed = false;
    for (size_t i = 0; i < chain->ops.size(); ++i) {
      if (!RewriteEnds(&chain->ops[i], all)) continue;
      changed = true;
      if (GoesFirst(chain->ops, i)) std::swap(chain->ops[i - 1], chain->ops[i]);
    }
    return changed;
  });
}

}  // namespace koios::planner
