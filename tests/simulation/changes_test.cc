// Queries that change the graph: what is compared afterwards tells graphs apart, and plans that
// forget a part of a change, or a barrier, are seen.
#include <functional>

#include "gtest/gtest.h"
#include "tests/simulation/check.h"
#include "tests/simulation/step_tree.h"

namespace koios::simulation {
namespace {

using Kind = Step::Kind;

// 0 -> 1 -> 2, and 0 -> 0.
GraphData SmallGraph() {
  GraphData data;
  data.partitions = 2;
  data.vertices = {7, 8, std::nullopt};
  data.edges = {{0, 1}, {1, 2}, {0, 0}};
  return data;
}

TEST(GraphStateTest, NewVerticesAreAlikeWhateverTheirReferences) {
  const auto graph = BuildGraph(SmallGraph());
  const GraphState before = GraphState::Read(*graph);
  ASSERT_EQ(before.vertices().size(), 3u);
  const VertexRef first = before.vertices().begin()->first;
  const auto add = [&](std::vector<int64_t> numbers) {
    GraphState state = before;
    for (const int64_t number : numbers) state.AddEdge(first, state.AddVertex(number));
    return state.Likenesses(before);
  };
  EXPECT_EQ(Difference(add({1, 2}), add({2, 1})), "");
  EXPECT_NE(Difference(add({1, 2}), add({2, 2})), "");
  EXPECT_NE(Difference(add({1, 2}), add({1})), "");
}

TEST(GraphStateTest, EachChangeIsSeen) {
  const auto graph = BuildGraph(SmallGraph());
  const GraphState before = GraphState::Read(*graph);
  const auto by_number = [&](std::optional<int64_t> number) {
    for (const auto& [vertex, is] : before.vertices()) {
      if (is.number == number) return vertex;
    }
    return VertexRef();
  };
  const VertexRef a = by_number(7), b = by_number(8), c = by_number(std::nullopt);
  const std::vector<std::function<void(GraphState*)>> changes = {
      [&](GraphState* state) { state->SetNumber(a, 9); },
      [&](GraphState* state) { state->SetNumber(b, std::nullopt); },
      [&](GraphState* state) { state->AddEdge(a, b); },
      [&](GraphState* state) { state->AddEdge(b, a); },
      [&](GraphState* state) { state->AddEdge(c, c); },
      [&](GraphState* state) { state->DropEdges(a, Direction::kOut); },
      [&](GraphState* state) { state->DropEdges(c, Direction::kIn); },
      [&](GraphState* state) { state->DropVertex(b); },
      [&](GraphState* state) { state->AddVertex(7); }};
  for (size_t one = 0; one < changes.size(); ++one) {
    for (size_t other = 0; other < changes.size(); ++other) {
      GraphState left = before, right = before;
      changes[one](&left);
      changes[other](&right);
      EXPECT_EQ(Difference(left.Likenesses(before), right.Likenesses(before)).empty(), one == other)
          << one << " and " << other;
    }
  }
}

// Such workers have no id to give: rows come to none of them, by no hash and by no home.
TEST(ChangesTest, WorkersThatOwnNothingAddNothing) {
  const RandomQuery query{
      {{Kind::kValues, 0, {}}, {Kind::kDedup, 0, {}}, {Kind::kAddVertex, kRowItself, {}}},
      std::nullopt};
  const RandomQuery counts{{{Kind::kCount, 0, {}}, {Kind::kAddVertex, kRowItself, {}}},
                           std::nullopt};
  for (const RandomQuery& each : {query, counts}) {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      Case made{SmallGraph(), each, ToPlan(each, /*isolated=*/true), {}};
      made.options.seed = seed;
      made.options.num_workers = static_cast<uint32_t>(1 + seed % 16);
      made.options.isolated = true;
      EXPECT_EQ(Check(made), "") << seed;
    }
  }
}

// Whether in `enough` of the first seeds with changes, on several isolated workers, it is seen that
// `breaks` has been done to the plan's operators; it says whether it has.
bool IsSeen(int enough, const std::function<bool(plan::Operator*)>& breaks) {
  constexpr uint64_t kChanging = 4000;
  for (uint64_t seed = 3; seed < kChanging && enough > 0; seed += 4) {
    Case drawn = MakeCase(seed);
    if (!drawn.options.isolated || drawn.options.num_workers == 1) continue;
    bool broken = false;
    for (plan::Operator& op : *drawn.plan.mutable_operators()) broken = breaks(&op) || broken;
    drawn.options.max_turns = 20'000;  // what reads what it writes goes on for ever
    if (broken && !Check(drawn).empty()) --enough;
  }
  return enough == 0;
}

// Another operator that lets all rows pass.
bool LetPass(plan::Operator* op) {
  op->mutable_merge()->set_capacity(1);
  op->set_spread(false);
  return true;
}

TEST(ChangesTest, ForgottenPartsOfChangesAreSeen) {
  EXPECT_TRUE(IsSeen(20, [](plan::Operator* op) {
    return op->add_edge().part() == plan::AddEdge::AT_IN && LetPass(op);
  }));
  EXPECT_TRUE(IsSeen(
      5, [](plan::Operator* op) { return op->drop().part() == plan::Drop::AT_IN && LetPass(op); }));
}

TEST(ChangesTest, ForgottenBarriersAreSeen) {
  EXPECT_TRUE(IsSeen(10, [](plan::Operator* op) {
    return op->has_barrier() && op->spread() && op->loop() == 0 && LetPass(op);
  }));
}

}  // namespace
}  // namespace koios::simulation
