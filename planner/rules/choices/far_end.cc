// V().hasLabel('Post').out('HAS_CREATOR').hasId(7).count() begins at 7 and walks back: the walks
// are the same ones from either end. Only of a chain of expansions and tests at the beginning of a
// traversal, where nobody can tell the order of rows, and where it is expected to be far less work.
#include <algorithm>
#include <optional>
#include <utility>

#include "planner/cost/cost_model.h"
#include "planner/op_table.h"
#include "planner/rules/choices/order_shows.h"
#include "planner/rules/choices/quiet.h"
#include "planner/rules/choices/seek_source.h"
#include "planner/rules/fold_source.h"
#include "planner/rules/rules.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

// Estimates are not better than this.
constexpr double kClearlyFewer = 4;
// Less work than this is done in no time, and the plan is the one that was written.
constexpr double kWorthIt = 1000;
// Where a chain is looked at: longer ones are walked as they are written.
constexpr size_t kMostHops = 8;

// The operations at one vertex of a walk, and at the edge that leads there.
struct Stop {
  std::vector<Op> crossing;  // an expansion; or one to edges, what is asked of them, and their ends
  std::vector<Op> tests;
};
struct Walk {
  std::vector<Stop> stops;   // the first one has no crossing: the source is apart
  std::vector<size_t> ends;  // where in the chain the tests of each stop end
};

// Asks the current element, or stores it under a label: can be done wherever a walk is at it.
bool IsTest(const Op& op) {
  if (const Project* store = As<Project>(op)) {
    return !store->target.empty() && IsLabel(store->target) && IsCurrent(*store->value);
  }
  const Filter* filter = As<Filter>(op);
  if (filter == nullptr || !IsQuiet(*filter->predicate)) return false;
  std::set<std::string> names;
  CollectNames(*filter->predicate, &names);
  return names.empty();
}

bool IsHop(const Op& op, plan::Expand::To to) {
  const Expand* expand = As<Expand>(op);
  return expand != nullptr && expand->to == to;
}

// The end of edges that is not where they were walked from.
std::optional<plan::EdgeEnd::End> FarEnd(plan::Direction direction) {
  if (direction == plan::OUT) return plan::EdgeEnd::IN_VERTEX;
  if (direction == plan::IN) return plan::EdgeEnd::OUT_VERTEX;
  return std::nullopt;
}

// Operations of the crossing that begins at ops[i]; 0: there is none.
size_t CrossingAt(const std::vector<Op>& ops, size_t i) {
  if (IsHop(ops[i], plan::Expand::NEIGHBOUR)) return 1;
  if (!IsHop(ops[i], plan::Expand::INCIDENT)) return 0;
  const auto end = FarEnd(As<Expand>(ops[i])->direction);
  size_t at = i + 1;
  while (at < ops.size() && IsTest(ops[at])) ++at;
  const EdgeEnd* taken = at < ops.size() ? As<EdgeEnd>(ops[at]) : nullptr;
  return taken != nullptr && end == taken->end ? at + 1 - i : 0;
}

Walk WalkOf(const Chain& chain) {
  Walk walk;
  walk.stops.emplace_back();
  for (size_t i = 1; i < chain.ops.size();) {
    if (IsTest(chain.ops[i])) {
      walk.stops.back().tests.push_back(chain.ops[i++]);
      continue;
    }
    const size_t crossing = CrossingAt(chain.ops, i);
    if (crossing == 0 || walk.stops.size() > kMostHops) {
      walk.ends.push_back(i);
      return walk;
    }
    walk.ends.push_back(i);
    const auto from = chain.ops.begin() + static_cast<std::ptrdiff_t>(i);
    walk.stops.emplace_back().crossing.assign(from, from + static_cast<std::ptrdiff_t>(crossing));
    i += crossing;
  }
  walk.ends.push_back(chain.ops.size());
  return walk;
}

// The later one counts: no other order will do.
bool StoresTwice(const Walk& walk) {
  std::set<std::string> names;
  const auto stores_again = [&names](const Op& op) {
    const std::string& name = StoredName(op);
    return !name.empty() && !names.insert(name).second;
  };
  return std::any_of(walk.stops.begin(), walk.stops.end(), [&](const Stop& stop) {
    return std::any_of(stop.crossing.begin(), stop.crossing.end(), stores_again) ||
           std::any_of(stop.tests.begin(), stop.tests.end(), stores_again);
  });
}

std::vector<Op> CrossedBack(std::vector<Op> crossing) {
  Expand* expand = As<Expand>(&crossing.front());
  expand->direction = Backwards(expand->direction);
  if (EdgeEnd* end = As<EdgeEnd>(&crossing.back())) end->end = *FarEnd(expand->direction);
  return crossing;
}

void Append(const std::vector<Op>& ops, Chain* to) {
  to->ops.insert(to->ops.end(), ops.begin(), ops.end());
}

// What is asked of a source first: labels and ids can be folded into it.
std::vector<Op> SourceTestsFirst(std::vector<Op> tests) {
  std::stable_partition(tests.begin(), tests.end(), [](const Op& op) {
    const Filter* filter = As<Filter>(op);
    return filter != nullptr && IsSourceFilter(*filter);
  });
  return tests;
}

// The walk to stop `far` from there to the source; the rows are at the source's vertex.
Chain WalkBack(const Op& source, const Walk& walk, size_t far) {
  Chain back;
  const Source& of = *As<Source>(source);
  Source begins;
  begins.graph = of.graph;
  back.ops.push_back({std::move(begins), source.span, source.step});
  Append(SourceTestsFirst(walk.stops[far].tests), &back);
  for (size_t i = far; i > 0; --i) {
    Append(CrossedBack(walk.stops[i].crossing), &back);
    if (i > 1) Append(walk.stops[i - 1].tests, &back);
  }
  if (!of.labels.empty())
    back.ops.push_back({Filter{HasLabel(of.labels)}, source.span, source.step});
  Append(walk.stops[0].tests, &back);
  FoldSource(&back);
  return back;
}

// Ends a prefix of a chain that begins with a source: with the index that would be taken.
double WorkOf(Chain prefix, const CostModel& model) {
  Source* source = As<Source>(&prefix.ops[0]);
  if (std::optional<SeekChoice> seek = BestSeek(prefix, 0, /*by_statistics=*/true)) {
    source->seek = std::move(seek->seek);
    source->sought_rows = seek->rows;
  }
  return model.PassAll(prefix, Stream()).work;
}

// Begins at few vertices by themselves, not by what a scan leaves.
bool IsFound(const Chain& chain) {
  return As<Source>(chain.ops[0])->ids.has_value() || BestSeek(chain, 0, true).has_value();
}

bool ReadsCurrentElement(const Op& op) {
  if (const Reduce* reduce = As<Reduce>(op)) return reduce->function != plan::Reduce::COUNT;
  const Project* project = As<Project>(op);
  return project == nullptr || !project->target.empty() || ReadsCurrent(*project->value);
}

// Rows that the traversal goes on with are at the far end.
void StandAtFarEnd(Chain* back) {
  static constexpr char kFarEnd[] = "~far";
  const auto at = std::find_if(back->ops.begin() + 1, back->ops.end(),
                               [](const Op& op) { return As<Filter>(op) == nullptr; });
  const Op& source = back->ops[0];
  Op store{Project{Current(), kFarEnd}, source.span, source.step};
  Op take{Project{Named(kFarEnd), ""}, source.span, source.step};
  back->ops.insert(at, std::move(store));
  back->ops.push_back(std::move(take));
}

// The cheapest way to the stops of the walk of which one is at the far end.
struct Choice {
  Chain back;
  size_t far = 0;
  double work = 0;
};
std::optional<Choice> BestEnd(const Chain& root, const Walk& walk, const CostModel& model) {
  std::optional<Choice> best;
  for (size_t far = walk.stops.size() - 1; far > 0; --far) {
    Chain back = WalkBack(root.ops[0], walk, far);
    if (!IsFound(back)) continue;
    Chain forwards;
    forwards.ops.assign(root.ops.begin(),
                        root.ops.begin() + static_cast<std::ptrdiff_t>(walk.ends[far]));
    const double work = WorkOf(back, model);
    const double as_written = WorkOf(std::move(forwards), model);
    if (as_written < kWorthIt || work * kClearlyFewer > as_written) continue;
    if (!best || work < best->work) best = Choice{std::move(back), far, work};
  }
  return best;
}

}  // namespace

bool StartAtFarEnd(Chain* root) {
  if (root->ops.empty() || ChangesGraph(*root)) return false;
  const Source* source = As<Source>(root->ops[0]);
  if (source == nullptr || source->element != plan::VERTEX || source->ids ||
      !source->graph.knows_statistics()) {
    return false;
  }
  const Walk walk = WalkOf(*root);
  if (walk.stops.size() < 2 || StoresTwice(walk)) return false;
  const CostModel model(*root);
  std::optional<Choice> best = BestEnd(*root, walk, model);
  if (!best) return false;
  const size_t end = walk.ends[best->far];
  if (OrderShows(*root, end - 1)) return false;
  const bool stands_there = end == root->ops.size() || ReadsCurrentElement(root->ops[end]);
  if (stands_there) StandAtFarEnd(&best->back);
  best->back.ops.insert(best->back.ops.end(), root->ops.begin() + static_cast<std::ptrdiff_t>(end),
                        root->ops.end());
  root->ops = std::move(best->back.ops);
  return true;
}

}  // namespace koios::planner
