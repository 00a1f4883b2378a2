// What reads a side-effect before a later step of the same stage adds to it traverser by traverser
// sees what the traversers before it have added (engine rule 38). `where(without('x'))` before
// `local(aggregate('x'))`, a set of the visited, is one operation; other readers go through the
// stage one traverser after the other.
#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "planner/op_table.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// The name that the filter wants its current value not to be in.
std::optional<std::string> WantedNew(const Op& op) {
  const Filter* filter = As<Filter>(op);
  if (filter == nullptr) return std::nullopt;
  const Expression& no = *filter->predicate;
  if (!IsCall(no, "not")) return std::nullopt;
  const Expression& in = *no.args[0];
  if (!IsCall(in, "in_side_effect") || !IsCurrent(*in.args[0])) return std::nullopt;
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

// For each operation the last one behind it, in its stage, that adds to what it reads; itself:
// there is none.
std::vector<size_t> LastWriters(const Chain& chain) {
  std::vector<size_t> last(chain.ops.size());
  std::map<std::string, size_t> writers;  // of the stage, as far as it has been walked
  for (size_t i = chain.ops.size(); i-- > 0;) {
    const Op& op = chain.ops[i];
    last[i] = i;
    std::set<std::string> names;
    CollectEffectReads(op, &names);
    const bool waits = TraitsOf(op).waits;  // what reads before it has read
    if (waits) writers.clear();
    for (const std::string& name : names) {
      const auto found = writers.find(name);
      if (found != writers.end()) last[i] = std::max(last[i], found->second);
    }
    if (waits) continue;
    names.clear();
    CollectEffectWrites(op, &names);
    for (const std::string& name : names) writers.emplace(name, i);
  }
  return last;
}

// A child of the operations that is entered by one traverser after the other.
Op InTurn(std::span<Op> ops) {
  const SourceSpan span = ops.front().span;
  const std::string step = ops.front().step;
  Chain body;
  body.ops.assign(std::make_move_iterator(ops.begin()), std::make_move_iterator(ops.end()));
  Scope scope = ScopeOf(plan::ScopeExit::ALL, "", plan::Project::DROP_ROW, std::move(body));
  scope.keeps_labels = true;
  return {std::move(scope), span, step};
}

bool VisitIn(Chain* chain) {
  const std::vector<size_t> last = LastWriters(*chain);
  std::vector<Op> ops;
  for (size_t begin = 0, end = 0; begin < chain->ops.size(); begin = end) {
    const std::span<Op> rest = std::span(chain->ops).subspan(begin);
    size_t writer = last[begin];
    for (end = begin + 1; end <= writer; ++end) writer = std::max(writer, last[end]);
    const std::optional<std::string> name = WantedNew(rest[0]);
    if (writer == begin) {
      ops.push_back(std::move(rest[0]));
    } else if (name && writer == begin + 1 && AddsCurrent(rest[1], *name)) {
      rest[0].body = Aggregate{*name, "", true};
      rest[0].step += "." + rest[1].step;
      ops.push_back(std::move(rest[0]));
    } else {
      ops.push_back(InTurn(rest.first(end - begin)));
    }
  }
  const bool changed = ops.size() < chain->ops.size();
  chain->ops = std::move(ops);
  return changed;
}

}  // namespace

bool VisitInTurn(Chain* root) { return HasEffects(*root) && ForEachChain(root, VisitIn); }

}  // namespace koios::planner
