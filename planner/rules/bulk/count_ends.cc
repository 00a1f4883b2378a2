// Expansions that are counted and whose rows nobody sees: out().where(neq('a')).count() leaves out
// the edges to one vertex, of out().where(out().as('a')).count() the ends are asked where they
// stand in their lists, and V().out().count() adds up what the graph knows of its edges. Where it
// must not be: where the query changes the graph.
#include "planner/op_table.h"
#include "planner/rules/rules.h"
#include "planner/rules/walks/walks.h"
#include "planner/value_type.h"

namespace koios::planner {
namespace {

bool IsVertex(const std::string& name, const TypeEnv& types) {
  const auto stored = types.names.find(name);
  return stored != types.names.end() && stored->second.always &&
         stored->second.type == ValueType::kVertex;
}

// The name in neq(_, name), when it is that of a vertex; else nothing.
std::string OtherThan(const Op& op, const TypeEnv& types) {
  const Filter* filter = As<Filter>(op);
  if (filter == nullptr || !IsCall(*filter->predicate, "neq")) return "";
  const std::vector<ExpressionPtr>& args = filter->predicate->args;
  for (const size_t current : {size_t{0}, size_t{1}}) {
    const Expression& other = *args[1 - current];
    const bool fits = IsCurrent(*args[current]) && other.kind == Expression::Kind::kNamed;
    if (fits && IsVertex(other.name, types)) return other.name;
  }
  return "";
}

bool IsCount(const Op& op, plan::Reduce::Function function) {
  const Reduce* reduce = As<Reduce>(op);
  return reduce != nullptr && reduce->function == function;
}

// The counted expansion at `i`, its test and the count become two operations.
bool CountTested(Chain* chain, size_t i, const TypeEnv& types) {
  if (i + 2 >= chain->ops.size() || !IsCount(chain->ops[i + 2], plan::Reduce::COUNT)) return false;
  Expand* expand = As<Expand>(&chain->ops[i]);
  if (expand == nullptr || expand->to != plan::Expand::NEIGHBOUR) return false;
  Reach* reach = As<Reach>(&chain->ops[i + 1]);
  if (const std::string name = OtherThan(chain->ops[i + 1], types); !name.empty()) {
    expand->to = plan::Expand::DEGREE;
    expand->other_than = name;
  } else if (reach != nullptr && reach->result == plan::Reach::PASS &&
             IsVertex(reach->ends.name, types) && reach->hops.size() < kMostHops) {
    std::optional<Hop> first = HopOf(*expand);
    if (!first) return false;
    Reach counted = std::move(*reach);
    counted.hops.insert(counted.hops.begin(), *std::move(first));
    counted.result = plan::Reach::NUMBER;
    chain->ops[i].body = std::move(counted);
  } else {
    return false;
  }
  As<Reduce>(&chain->ops[i + 2])->function = plan::Reduce::COUNT_OF;
  chain->ops.erase(chain->ops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  return true;
}

// The degrees of all vertices that a source gives are added up there.
bool CountAtSource(Chain* chain, size_t i) {
  if (i + 2 >= chain->ops.size() || !IsCount(chain->ops[i + 2], plan::Reduce::COUNT_OF)) {
    return false;
  }
  Source* source = As<Source>(&chain->ops[i]);
  const Expand* expand = As<Expand>(chain->ops[i + 1]);
  if (source == nullptr || source->element != plan::VERTEX || source->ids || source->seek ||
      expand == nullptr || expand->to != plan::Expand::DEGREE || !expand->other_than.empty()) {
    return false;
  }
  source->counted = *expand;
  chain->ops.erase(chain->ops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  return true;
}

bool Rewrite(Chain* chain, TypeEnv types) {
  bool changed = false;
  for (size_t i = 0; i < chain->ops.size(); ++i) {
    changed = CountTested(chain, i, types) || CountAtSource(chain, i) || changed;
    Op& op = chain->ops[i];
    const Loop* loop = As<Loop>(op);
    if (std::vector<Chain>* children = ChildrenOf(&op)) {
      TypeEnv inside = loop == nullptr ? types : AtLoopStart(types, *loop);
      for (Chain& child : *children) {
        changed = Rewrite(&child, inside) || changed;
        if (loop != nullptr) Advance(child, &inside);
      }
    }
    Advance(op, &types);
  }
  return changed;
}

}  // namespace

bool CountEnds(Chain* root) { return !ChangesGraph(*root) && Rewrite(root, {}); }

}  // namespace koios::planner
