#include "planner/op_table.h"

#include <vector>

#include "gtest/gtest.h"

namespace koios::planner {
namespace {

template <typename T>
Op OpOf(T body) {
  return {std::move(body), {}, ""};
}

Aggregate Visited() { return {"x", "", true}; }

// Each alternative as its fields are at first, and as others would decide.
std::vector<Op> Samples() {
  std::vector<Op> all = {OpOf(Source{}),
                         OpOf(Inject{}),
                         OpOf(Lookup{}),
                         OpOf(Expand{}),
                         OpOf(EdgeEnd{}),
                         OpOf(Fetch{}),
                         OpOf(Filter{CallOf("eq", {Current(), Current()})}),
                         OpOf(Filter{CallOf("once", {StringConstant("x")})}),
                         OpOf(Project{Current(), "", plan::Project::DROP_ROW}),
                         OpOf(Project{PropertyOf(Current(), "k"), "a", plan::Project::DROP_ROW}),
                         OpOf(Unfold{}),
                         OpOf(Merge{}),
                         OpOf(Merge{true}),
                         OpOf(Limit{}),
                         OpOf(TimeLimit{}),
                         OpOf(Tail{}),
                         OpOf(Sample{}),
                         OpOf(Order{}),
                         OpOf(Order{{{"", plan::SortKey::SHUFFLE}}}),
                         OpOf(Barrier{}),
                         OpOf(Barrier{true}),
                         OpOf(Barrier{false, Sacks{"~sack", Value()}}),
                         OpOf(Coin{}),
                         OpOf(Dedup{}),
                         OpOf(Reduce{}),
                         OpOf(Reduce{plan::Reduce::FOLD}),
                         OpOf(Reduce{plan::Reduce::SUM}),
                         OpOf(Group{}),
                         OpOf(Aggregate{"x", ""}),
                         OpOf(Visited()),
                         OpOf(Cap{{"x"}}),
                         OpOf(Split{}),
                         OpOf(Loop{}),
                         OpOf(Reach{}),
                         OpOf(Reach{{}, {}, plan::Reach::COUNT, ""}),
                         OpOf(ShortestPath{})};
  Group effect;
  effect.side_effect = "x";
  all.push_back(OpOf(effect));
  for (const auto kind : {Mutate::Kind::kAddVertex, Mutate::Kind::kAddEdge,
                          Mutate::Kind::kSetProperty, Mutate::Kind::kDrop, Mutate::Kind::kGuard}) {
    Mutate mutate;
    mutate.kind = kind;
    all.push_back(OpOf(mutate));
  }
  for (int policy = plan::ScopeExit::Policy_MIN; policy <= plan::ScopeExit::Policy_MAX; ++policy) {
    all.push_back(OpOf(ScopeOf(static_cast<plan::ScopeExit::Policy>(policy), "",
                               plan::Project::DROP_ROW, Chain{})));
  }
  return all;
}

TEST(OpTableTest, SamplesAreOfEveryAlternative) {
  std::vector<bool> seen(std::variant_size_v<Operation>, false);
  for (const Op& op : Samples()) seen[op.body.index()] = true;
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_TRUE(seen[i]) << "alternative " << i;
}

TEST(OpTableTest, RowsContradictThemselvesNowhere) {
  for (const Op& op : Samples()) {
    SCOPED_TRACE(ChainText(Chain{{op}}, 0));
    const OpTraits row = TraitsOf(op);
    EXPECT_FALSE(row.fans_out && row.at_most_one);
    EXPECT_FALSE(row.waits && row.waits_in_loop);
    EXPECT_FALSE(row.waits && row.races);
    const bool meets_others = row.waits || row.waits_in_loop || row.holds || row.races;
    EXPECT_TRUE(row.remembers || !meets_others);
    EXPECT_TRUE(row.new_value || !row.ends_history);
    EXPECT_TRUE(row.gathers || !row.ends_history);
    EXPECT_TRUE(row.effect || !row.changes_graph);
    // Who draws, has an effect or counts sees each of equal rows.
    EXPECT_FALSE(row.draws && row.repeats != RepeatsSeen::kShown);
    EXPECT_FALSE(row.changes_graph && row.repeats != RepeatsSeen::kShown);
    // An effect is done for each traverser: a row of several would do it once.
    EXPECT_FALSE(row.effect && row.takes_bulk && !As<Filter>(op));
  }
}

TEST(OpTableTest, FieldsDecide) {
  EXPECT_FALSE(TraitsOf(OpOf(Visited())).waits);
  EXPECT_TRUE(TraitsOf(OpOf(Visited())).races);
  EXPECT_TRUE(TraitsOf(OpOf(Aggregate{"x", ""})).waits);
  EXPECT_FALSE(TraitsOf(OpOf(Order{{{"", plan::SortKey::SHUFFLE}}})).takes_bulk);
  EXPECT_TRUE(TraitsOf(OpOf(Order{})).takes_bulk);
  EXPECT_EQ(TraitsOf(OpOf(Reduce{plan::Reduce::FOLD})).order, OrderSeen::kShown);
  EXPECT_EQ(TraitsOf(OpOf(Reduce{plan::Reduce::SUM})).order, OrderSeen::kHidden);
  EXPECT_FALSE(TraitsOf(OpOf(Reduce{plan::Reduce::SUM})).of_nothing);
  EXPECT_TRUE(TraitsOf(OpOf(Filter{CallOf("once", {StringConstant("x")})})).effect);
  Mutate drop;
  EXPECT_FALSE(TraitsOf(OpOf(drop)).every_row);
}

TEST(OpTableTest, EqualRowsGiveTheSameUnlessSomethingIsDrawnOrSeen) {
  EXPECT_TRUE(GivesTheSame(OpOf(Expand{})));
  EXPECT_TRUE(GivesTheSame(OpOf(Filter{CallOf("eq", {Current(), Current()})})));
  EXPECT_FALSE(GivesTheSame(OpOf(Coin{})));
  EXPECT_FALSE(GivesTheSame(OpOf(Filter{CallOf("coin", {Constant(Value::Double(0.5))})})));
  EXPECT_FALSE(GivesTheSame(OpOf(Filter{CallOf("once", {StringConstant("x")})})));
  EXPECT_FALSE(GivesTheSame(OpOf(Visited())));
  for (const Op& inner : {OpOf(Coin{}), OpOf(Sample{}), OpOf(Mutate{})}) {
    EXPECT_FALSE(GivesTheSame(
        OpOf(ScopeOf(plan::ScopeExit::EXISTS, "", plan::Project::DROP_ROW, {{inner}}))));
  }
  EXPECT_TRUE(GivesTheSame(
      OpOf(ScopeOf(plan::ScopeExit::EXISTS, "", plan::Project::DROP_ROW, {{OpOf(Limit{})}}))));
}

TEST(OpTableTest, ChildrenCount) {
  const Op change = OpOf(Mutate{});
  const Op inside = OpOf(ScopeOf(plan::ScopeExit::EFFECT, "", plan::Project::DROP_ROW, {{change}}));
  Split split;
  split.branches = {Chain{}, Chain{{inside}}};
  const Op deep = OpOf(std::move(split));
  EXPECT_TRUE(ChangesGraph(deep));
  EXPECT_TRUE(HasEffects(deep));
  EXPECT_FALSE(TraitsOf(deep).changes_graph);
  EXPECT_FALSE(HoldsTraversers(Chain{{deep}}));
  const Op counted =
      OpOf(ScopeOf(plan::ScopeExit::FIRST, "", plan::Project::DROP_ROW, {{OpOf(Reduce{})}}));
  EXPECT_TRUE(HoldsTraversers(Chain{{counted}}));
  EXPECT_TRUE(IsStateless(Chain{{counted}}));  // per instance: the child is a scope
}

}  // namespace
}  // namespace koios::planner
