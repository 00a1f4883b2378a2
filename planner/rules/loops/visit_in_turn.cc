// What reads a side-effect before a later step of the same stage adds to it traverser by traverser
// sees what the traversers before it have added (engine rule 38). `where(without('x'))` before
// `local(aggregate('x'))`, a set of the visited, is one operation; other readers go through the
// stage one traverser after the other.
#include <algorithm>
#include <optional>

#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// The name of a side-effect that the expression reads.
void CollectEffectReads(const Expression& expression, std::set<std::string>* names) {
  if (expression.kind == Expression::Kind::kCall) {
    if (expression.name == "side_effect") names->insert(expression.args[0]->constant.AsString());
    if (expression.name == "in_side_effect") {
      names->insert(expression.args[1]->constant.AsString());
    }
  }
  for (const ExpressionPtr& arg : expression.args) CollectEffectReads(*arg, names);
}

void CollectEffectReads(const Op& op, std::set<std::string>* names) {
  ForEachExpression(op, [names](const Expression& part) { CollectEffectReads(part, names); });
  const std::vector<Chain>* children = ChildrenOf(op);
  if (children == nullptr) return;
  for (const Chain& child : *children) {
    for (const Op& inner : child.ops) CollectEffectReads(inner, names);
  }
}

void CollectEffectWrites(const Op& op, std::set<std::string>* names) {
  if (const Aggregate* aggregate = As<Aggregate>(op)) names->insert(aggregate->name);
  if (const Group* group = As<Group>(op)) names->insert(group->side_effect);
  const std::vector<Chain>* children = ChildrenOf(op);
  if (children == nullptr) return;
  for (const Chain& child : *children) {
    for (const Op& inner : child.ops) CollectEffectWrites(inner, names);
  }
}

// All rows are in before one goes on: what reads before it has read.
bool Waits(const Op& op) {
  const Aggregate* aggregate = As<Aggregate>(op);
  return (aggregate != nullptr && !aggregate->distinct) || As<Barrier>(op) || As<Order>(op) ||
         As<Tail>(op) || As<Sample>(op) || As<Reduce>(op) || As<Group>(op) || As<Cap>(op);
}

// The name that the filter wants its current value not to be in.
std::optional<std::string> WantedNew(const Op& op) {
  const Filter* filter = As<Filter>(op);
  if (filter == nullptr) return std::nullopt;
  const Expression& no = *filter->predicate;
  if (no.kind != Expression::Kind::kCall || no.name != "not" || no.args.size() != 1) {
    return std::nullopt;
  }
  const Expression& in = *no.args[0];
  if (in.kind != Expression::Kind::kCall || in.name != "in_side_effect" ||
      !IsCurrent(*in.args[0])) {
    return std::nullopt;
  }
  return in.args[1]->constant.AsString();
}

// local(aggregate(name)) of the current value.
bool AddsCurrent(const Op& op, const std::string& name) {
  const Scope* scope = As<Scope>(op);
  if (scope == nullptr || scope->policy != plan::ScopeExit::ALL || scope->bodies.size() != 1 ||
      scope->bodies[0].ops.size() != 1) {
    return false;
  }
  const Aggregate* aggregate = As<Aggregate>(scope->bodies[0].ops[0]);
  return aggregate != nullptr && aggregate->name == name && aggregate->value.empty();
}

// Wraps [begin, end] into a child that is entered by one traverser after the other.
void TakeInTurn(Chain* chain, size_t begin, size_t end) {
  const auto first = chain->ops.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = chain->ops.begin() + static_cast<std::ptrdiff_t>(end) + 1;
  const SourceSpan span = first->span;
  const std::string step = first->step;
  Chain body;
  body.ops.assign(std::make_move_iterator(first), std::make_move_iterator(last));
  Scope scope = ScopeOf(plan::ScopeExit::ALL, "", plan::Project::DROP_ROW, std::move(body));
  scope.keeps_labels = true;
  chain->ops.insert(chain->ops.erase(first, last), Op{std::move(scope), span, step});
}

// The last operation behind `at`, in its stage, that adds to what it reads; `at`: there is none.
size_t LastWriter(const Chain& chain, size_t at) {
  std::set<std::string> reads;
  CollectEffectReads(chain.ops[at], &reads);
  size_t last = at;
  if (reads.empty()) return last;
  for (size_t i = at + 1; i < chain.ops.size() && !Waits(chain.ops[i]); ++i) {
    std::set<std::string> writes;
    CollectEffectWrites(chain.ops[i], &writes);
    const bool adds = std::any_of(writes.begin(), writes.end(), [&reads](const std::string& name) {
      return reads.contains(name);
    });
    if (adds) last = i;
  }
  return last;
}

bool VisitIn(Chain* chain) {
  bool changed = false;
  for (size_t i = 0; i + 1 < chain->ops.size(); ++i) {
    const std::optional<std::string> name = WantedNew(chain->ops[i]);
    const size_t last = LastWriter(*chain, i);
    if (last == i) continue;
    changed = true;
    if (name && last == i + 1 && AddsCurrent(chain->ops[i + 1], *name)) {
      chain->ops[i].body = Aggregate{*name, "", true};
      chain->ops[i].step += "." + chain->ops[i + 1].step;
      chain->ops.erase(chain->ops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    } else {
      TakeInTurn(chain, i, last);
    }
  }
  return changed;
}

}  // namespace

bool VisitInTurn(Chain* root) { return HasEffects(*root) && ForEachChain(root, VisitIn); }

}  // namespace koios::planner
