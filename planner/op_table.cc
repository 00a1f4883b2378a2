#include "planner/op_table.h"

#include <algorithm>

#include "planner/value_type.h"

namespace koios::planner {
namespace {

using Policy = plan::ScopeExit;

bool MakesList(const Reduce& op) {
  return op.function == plan::Reduce::FOLD || op.function == plan::Reduce::FOLD_WITH;
}

// The rows.

OpTraits RowOf(const Source&) {
  return {.takes_bulk = true,
          .repeats = RepeatsSeen::kAsBehind,
          .meeting = Meeting::kParts,
          .new_value = true,
          .reads_graph = true};
}

OpTraits RowOf(const Lookup&) {
  return {.at_most_one = true,
          .takes_bulk = true,
          .repeats = RepeatsSeen::kAsBehind,
          .meeting = Meeting::kMeets,
          .new_value = true,
          .reads_graph = true};
}

OpTraits RowOf(const Inject&) { return {.remembers = true, .new_value = true}; }

OpTraits RowOf(const Expand& op) {
  return {.fans_out = true,
          .takes_bulk = true,
          .repeats = RepeatsSeen::kAsBehind,
          .meeting = op.to == plan::Expand::NEIGHBOUR ? Meeting::kMeets : Meeting::kAsBefore,
          .in_place = true,
          .new_value = true,
          .reads_graph = true};
}

OpTraits RowOf(const EdgeEnd&) {
  return {.fans_out = true,
          .takes_bulk = true,
          .repeats = RepeatsSeen::kAsBehind,
          .meeting = Meeting::kMeets,
          .in_place = true,
          .new_value = true};
}

OpTraits RowOf(const Fetch&) {
  return {.fans_out = true,
          .takes_bulk = true,
          .repeats = RepeatsSeen::kAsBehind,
          .in_place = true,
          .new_value = true,
          .reads_graph = true};
}

OpTraits RowOf(const Filter& op) {
  const bool takes_turn = IsCallWith(*op.predicate, plan::kTakesTurn);
  return {.at_most_one = true,
          .takes_bulk = true,
          .repeats = RepeatsSeen::kAsBehind,
          .in_place = !takes_turn,
          .effect = takes_turn};
}

OpTraits RowOf(const Project& op) {
  return {.every_row = op.absent != plan::Project::DROP_ROW || IsAlwaysThere(*op.value, {}),
          .at_most_one = true,
          .takes_bulk = true,
          .repeats = RepeatsSeen::kAsBehind,
          .in_place = true,
          .new_value = op.target.empty()};
}

OpTraits RowOf(const Unfold&) {
  return {.fans_out = true,
          .takes_bulk = true,
          .repeats = RepeatsSeen::kAsBehind,
          .in_place = true,
          .new_value = true};
}

OpTraits RowOf(const Merge&) {
  return {.takes_bulk = true,
          .repeats = RepeatsSeen::kAsBehind,
          .meeting = Meeting::kParts,
          .remembers = true};
}

OpTraits RowOf(const Limit&) {
  return {.takes_bulk = true,
          .order = OrderSeen::kShown,
          .remembers = true,
          .holds = true,
          .in_place = true};
}

OpTraits RowOf(const TimeLimit&) {
  return {.at_most_one = true, .takes_bulk = true, .remembers = true, .races = true};
}

OpTraits RowOf(const Tail&) {
  return {.takes_bulk = true,
          .order = OrderSeen::kShown,
          .remembers = true,
          .waits = true,
          .holds = true,
          .in_place = true};
}

OpTraits RowOf(const Sample&) {
  return {
      .order = OrderSeen::kHidden, .remembers = true, .waits = true, .holds = true, .draws = true};
}

OpTraits RowOf(const Order& op) {
  const bool all = op.limit == 0 && !Shuffles(op);
  return {.at_most_one = true,
          .takes_bulk = !Shuffles(op),
          .order = OrderSeen::kHidden,
          .repeats = all ? RepeatsSeen::kAsBehind : RepeatsSeen::kShown,
          .remembers = true,
          .waits = true,
          .holds = true,
          .draws = Shuffles(op),
          .in_place = !Shuffles(op)};
}

OpTraits RowOf(const Barrier& op) {
  if (op.sacks) {  // the sacks tell how many rows there were, and in which order
    return {.order = OrderSeen::kShown, .remembers = true, .waits = true, .holds = true};
  }
  return {.at_most_one = true,
          .takes_bulk = true,
          .repeats = RepeatsSeen::kAsBehind,
          .remembers = true,
          .waits = true,
          .holds = !op.planned};
}

OpTraits RowOf(const Coin&) { return {.takes_bulk = true, .draws = true}; }

OpTraits RowOf(const Dedup&) {
  return {.takes_bulk = true,
          .repeats = RepeatsSeen::kHidden,
          .meeting = Meeting::kParts,
          .remembers = true,
          .waits_in_loop = true,
          .holds = true,
          .in_place = true};
}

OpTraits RowOf(const Reduce& op) {
  const bool extreme = op.function == plan::Reduce::MIN || op.function == plan::Reduce::MAX;
  return {.of_nothing = MakesList(op) || op.function == plan::Reduce::COUNT ||
                        op.function == plan::Reduce::COUNT_OF,
          .takes_bulk = !MakesList(op),
          .order = MakesList(op) ? OrderSeen::kShown : OrderSeen::kHidden,
          .repeats = extreme ? RepeatsSeen::kHidden : RepeatsSeen::kShown,
          .meeting = Meeting::kParts,
          .remembers = true,
          .waits = true,
          .holds = true,
          .gathers = true,
          .in_place = true,
          .new_value = true,
          .ends_history = true};
}

OpTraits RowOf(const Group& op) {
  OpTraits row = {.remembers = true, .waits = true, .holds = true, .gathers = true};
  if (!op.side_effect.empty()) {  // the rows go on as they are
    row.effect = true;
    return row;
  }
  const bool first = op.kind == plan::Group::LIST || op.kind == plan::Group::LAST;
  row.of_nothing = !op.rows;
  row.takes_bulk = op.kind != plan::Group::LIST;
  row.order = first ? OrderSeen::kShown : OrderSeen::kHidden;
  row.meeting = Meeting::kParts;
  row.in_place = row.new_value = row.ends_history = true;
  return row;
}

OpTraits RowOf(const Aggregate& op) {
  return {.remembers = true,
          .waits = !op.distinct && !op.each,
          .holds = true,
          .gathers = true,
          .races = op.distinct,
          .effect = true};
}

OpTraits RowOf(const Cap& op) {
  return {.of_nothing = !op.rows,
          .order = OrderSeen::kHidden,
          .remembers = true,
          .waits = true,
          .holds = true,
          .gathers = true,
          .new_value = true,
          .ends_history = true};
}

OpTraits RowOf(const Mutate& op) {
  const bool adds = op.kind == Mutate::Kind::kAddVertex || op.kind == Mutate::Kind::kAddEdge;
  const bool changes = op.kind != Mutate::Kind::kGuard;
  return {.every_row = op.kind != Mutate::Kind::kDrop,
          .remembers = true,
          .new_value = adds,
          .changes_graph = changes,
          .effect = changes};
}

OpTraits RowOf(const Scope& op) {
  const bool fills = op.policy == Policy::FIRST && op.absent != plan::Project::DROP_ROW;
  const bool replaces =
      op.policy == Policy::ALL || (op.policy == Policy::FIRST && op.target.empty());
  return {.every_row = fills || op.policy == Policy::EFFECT || op.policy == Policy::EXISTS_FLAG,
          .at_most_one = !GivesBodyRows(op.policy),
          .takes_bulk = true,
          .repeats = RepeatsSeen::kAsBehind,
          .in_place = op.in_place,
          .new_value = replaces && !op.keeps_labels};
}

OpTraits RowOf(const Split&) { return {.takes_bulk = true, .repeats = RepeatsSeen::kAsBehind}; }

OpTraits RowOf(const Loop&) { return {.takes_bulk = true, .repeats = RepeatsSeen::kAsBehind}; }

OpTraits RowOf(const Reach& op) {
  const bool counts = op.result == plan::Reach::COUNT;
  const bool is_number = op.result == plan::Reach::NUMBER;
  return {.every_row = op.result == plan::Reach::FLAG || is_number,
          .at_most_one = !counts,
          .fans_out = counts,
          .takes_bulk = true,
          .repeats = RepeatsSeen::kAsBehind,
          .meeting = counts ? Meeting::kMeets : Meeting::kAsBefore,
          .in_place = true,
          .new_value = counts || is_number,
          .reads_graph = true};
}

OpTraits RowOf(const ShortestPath&) {
  return {.at_most_one = true,
          .takes_bulk = true,
          .repeats = RepeatsSeen::kAsBehind,
          .meeting = Meeting::kMeets,
          .in_place = true,
          .new_value = true,
          .reads_graph = true};
}

void CollectEffectNames(const Expression& expression, std::set<std::string>* names) {
  if (IsCallWith(expression, plan::kReadsEffect)) {
    const size_t name = plan::EffectArgument(*expression.function);
    names->insert(expression.args[name]->constant.AsString());
  }
  for (const ExpressionPtr& arg : expression.args) CollectEffectNames(*arg, names);
}

}  // namespace

OpTraits TraitsOf(const Op& op) {
  return std::visit([](const auto& body) { return RowOf(body); }, op.body);
}

bool TakesOne(const Scope& scope) {
  return scope.policy == plan::ScopeExit::FIRST || scope.policy == plan::ScopeExit::EXISTS ||
         scope.policy == plan::ScopeExit::EXISTS_FLAG || scope.policy == plan::ScopeExit::NONE;
}

bool ChangesGraph(const Op& op) {
  return AnyOp(op, [](const Op& each) { return TraitsOf(each).changes_graph; });
}

bool ChangesGraph(const Chain& chain) {
  return AnyOp(chain, [](const Op& each) { return TraitsOf(each).changes_graph; });
}

bool ReadsGraphItself(const Op& op) {
  bool reads = TraitsOf(op).reads_graph;
  ForEachExpression(op, [&reads](const Expression& part) {
    reads = reads || HasCallWith(part, plan::kReadsStored);
  });
  return reads;
}

bool ReadsGraph(const Op& op) { return AnyOp(op, ReadsGraphItself); }

bool GivesTheSame(const Op& op) {
  return !AnyOp(op, [](const Op& each) {
    const OpTraits traits = TraitsOf(each);
    bool differs = traits.draws || traits.effect || traits.races;
    ForEachExpression(each, [&differs](const Expression& part) {
      differs = differs || HasCallWith(part, plan::kDraws | plan::kReadsEffect | plan::kTakesTurn);
    });
    return differs;
  });
}

bool HasEffects(const Op& op) {
  return AnyOp(op, [](const Op& each) { return TraitsOf(each).effect; });
}

bool HasEffects(const Chain& chain) {
  return AnyOp(chain, [](const Op& each) { return TraitsOf(each).effect; });
}

bool ReadsEffects(const Op& op) {
  bool reads = false;
  ForEachExpression(op, [&reads](const Expression& part) {
    reads = reads || HasCallWith(part, plan::kReadsEffect);
  });
  return reads;
}

void CollectEffectReads(const Op& op, std::set<std::string>* names) {
  AnyOp(op, [names](const Op& each) {
    ForEachExpression(each, [names](const Expression& part) { CollectEffectNames(part, names); });
    return false;
  });
}

void CollectEffectWrites(const Op& op, std::set<std::string>* names) {
  AnyOp(op, [names](const Op& each) {
    if (const Aggregate* aggregate = As<Aggregate>(each)) names->insert(aggregate->name);
    const Group* group = As<Group>(each);
    if (group != nullptr && !group->side_effect.empty()) names->insert(group->side_effect);
    return false;
  });
}

void CollectCaps(const Op& op, std::set<std::string>* names) {
  AnyOp(op, [names](const Op& each) {
    if (const Cap* cap = As<Cap>(each)) names->insert(cap->names.begin(), cap->names.end());
    return false;
  });
}

bool Raises(const Chain& chain) {
  return AnyOp(chain, [](const Op& each) {
    bool raises = false;
    ForEachExpression(each, [&raises](const Expression& part) {
      raises = raises || HasCallWith(part, plan::kRaises);
    });
    return raises;
  });
}

bool HoldsTraversers(const Chain& chain) {
  return AnyOp(chain, [](const Op& each) { return TraitsOf(each).holds; });
}

bool EndsHistory(const Op& op) { return TraitsOf(op).ends_history; }

bool EndsHistory(const Chain& chain) {
  for (const Op& op : chain.ops) {
    if (EndsHistory(op)) return true;
    if (!As<Split>(op) && !As<Loop>(op)) continue;
    for (const Chain& child : *ChildrenOf(op)) {
      if (EndsHistory(child)) return true;
    }
  }
  return false;
}

bool ForgetsNames(const Chain& chain) {
  for (const Op& op : chain.ops) {
    if (EndsHistory(op)) return true;
    const Scope* scope = As<Scope>(op);
    if (!As<Split>(op) && !As<Loop>(op) && (scope == nullptr || !scope->keeps_labels)) continue;
    for (const Chain& child : *ChildrenOf(op)) {
      if (ForgetsNames(child)) return true;
    }
  }
  return false;
}

bool IsStateless(const Chain& chain) {
  for (const Op& op : chain.ops) {
    if (TraitsOf(op).remembers) return false;
    if (!As<Split>(op) && !As<Loop>(op)) continue;
    for (const Chain& branch : *ChildrenOf(op)) {
      if (!IsStateless(branch)) return false;
    }
  }
  return true;
}

bool GivesBodyRows(plan::ScopeExit::Policy policy) {
  return policy == Policy::ALL || policy == Policy::OPTIONAL;
}

bool Shuffles(const Order& order) {
  return std::any_of(order.keys.begin(), order.keys.end(),
                     [](const OrderKey& key) { return key.direction == plan::SortKey::SHUFFLE; });
}

}  // namespace koios::planner
