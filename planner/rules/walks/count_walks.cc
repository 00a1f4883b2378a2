// as('a').out().out().out().where(eq('a')): of the last hops only is asked how many walks there are
// to a vertex that is known. They are counted from both sides, and the row goes on at the end with
// so much bulk. Where it must not be: where an operation treats each traverser by itself; where the
// query changes the graph.
#include "planner/op_table.h"
#include "planner/rules/rules.h"
#include "planner/rules/walks/walks.h"

namespace koios::planner {
namespace {

bool AllTakeBulk(const Chain& chain) {
  return !AnyOp(chain, [](const Op& op) { return !TraitsOf(op).takes_bulk; });
}

// Whether the op may be one of a walk whose walks are counted.
bool IsOfWalk(const Op& op) {
  const Expand* expand = As<Expand>(op);
  if (expand != nullptr) return expand->to == plan::Expand::NEIGHBOUR;
  const Filter* filter = As<Filter>(op);
  return filter != nullptr && IsPure(*filter->predicate);
}

bool HasName(const Op& op) {
  const Filter* filter = As<Filter>(op);
  return filter != nullptr && !IsVertexFilter(*filter->predicate);
}

// The first hop of the walk that ends in front of `end`; `end`: there is none.
size_t BeginOf(const Chain& chain, size_t end) {
  size_t begin = end;
  size_t hops = 0;
  for (size_t at = end; at-- > 0 && hops < kMostHops && IsOfWalk(chain.ops[at]);) {
    if (HasName(chain.ops[at])) break;
    if (!As<Expand>(chain.ops[at])) continue;
    begin = at;
    ++hops;
  }
  return begin;
}

// The walk that ends with the last operation becomes one.
bool RewriteLast(Chain* chain) {
  if (!HasName(chain->ops.back())) return false;
  const size_t last = chain->ops.size() - 1;
  const size_t begin = BeginOf(*chain, last);
  if (begin == last) return false;
  std::optional<ParsedWalk> walk = WalkOf(*chain, begin, last + 1);
  if (!walk || walk->ends) return false;
  std::optional<WalkEnds> ends = EndsOf(walk->end_filters, Source());
  if (!ends || ends->name.empty()) return false;
  Reach reach;
  reach.hops = std::move(walk->hops);
  reach.ends = *std::move(ends);
  reach.result = plan::Reach::COUNT;
  chain->ops[begin].body = std::move(reach);
  chain->ops.resize(begin + 1);
  return true;
}

}  // namespace

bool CountWalks(Chain* root) {
  if (ChangesGraph(*root) || !AllTakeBulk(*root)) return false;
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    Chain done;
    for (Op& op : chain->ops) {
      done.ops.push_back(std::move(op));
      changed = RewriteLast(&done) || changed;
    }
    *chain = std::move(done);
    return changed;
  });
}

}  // namespace koios::planner
