// local(both().limit(1)), by(out().id()): a child begins with one traverser, so of its vertex no
// more ends are needed than the limit behind them lets through; at a hub that is what it costs.
#include "planner/op_table.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// A row for each that comes, and nothing that each must come to.
bool KeepsEach(const Op& op) {
  const OpTraits traits = TraitsOf(op);
  return traits.every_row && traits.at_most_one && !traits.remembers && !traits.effect;
}

// From ops[at] on; how many there are when there is none.
size_t FirstThatDrops(const Chain& body, size_t at) {
  while (at < body.ops.size() && KeepsEach(body.ops[at])) ++at;
  return at;
}

// How many rows of the operation before ops[at] are asked for; 0: all.
uint64_t Needed(const Chain& body, size_t at, bool takes_one) {
  at = FirstThatDrops(body, at);
  if (at == body.ops.size()) return takes_one ? 1 : 0;
  const Limit* limit = As<Limit>(body.ops[at]);
  return limit == nullptr || limit->high <= 0 ? 0 : static_cast<uint64_t>(limit->high);
}

bool BoundEnds(Scope* scope) {
  bool changed = false;
  for (Chain& body : scope->bodies) {
    const size_t at = FirstThatDrops(body, 0);
    Expand* expand = at == body.ops.size() ? nullptr : As<Expand>(&body.ops[at]);
    if (expand == nullptr || expand->most != 0 ||
        (expand->to != plan::Expand::NEIGHBOUR && expand->to != plan::Expand::INCIDENT)) {
      continue;
    }
    expand->most = Needed(body, at + 1, TakesOne(*scope));
    changed = changed || expand->most != 0;
  }
  return changed;
}

}  // namespace

bool FirstEnds(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (Op& op : chain->ops) {
      Scope* scope = As<Scope>(&op);
      if (scope != nullptr && BoundEnds(scope)) changed = true;
    }
    return changed;
  });
}

}  // namespace koios::planner
