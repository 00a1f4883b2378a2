// The traversals that break without a rule of the protocol, each under many schedules: stages as a
// partial order, silent branches, zeros, sticky closing, state in nested scopes.
#include <algorithm>

#include "core/value_compare.h"
#include "engine/sim/simulation.h"
#include "gtest/gtest.h"
#include "tests/simulation/step_tree.h"

namespace koios::simulation {
namespace {

using Kind = Step::Kind;

Step Of(Kind kind, int64_t number = 0) { return {kind, number, {}}; }
Step Nest(Kind kind, std::vector<Traversal> children) { return {kind, 0, std::move(children)}; }

std::vector<Value> Sorted(std::vector<Value> rows) {
  std::sort(rows.begin(), rows.end(), [](const Value& a, const Value& b) {
    return TotalOrder(a, b) == std::strong_ordering::less;
  });
  return rows;
}

void ExpectUnderAllSchedules(const Traversal& steps) {
  Rng graphs(99);
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    const auto graph = MakeGraph(&graphs);
    const RandomQuery query{steps, std::nullopt};
    const auto expected = Evaluate(query, *graph);
    if (!expected.has_value()) continue;
    engine::SimulationOptions options;
    options.seed = seed;
    options.num_workers = static_cast<uint32_t>(1 + seed % 5);
    options.deliver_percent = static_cast<uint32_t>(5 + seed * 7 % 90);
    const engine::SimulationResult result = engine::Simulate(ToPlan(query), graph, options);
    ASSERT_TRUE(result.status.ok()) << result.status << " seed " << seed << ": " << ToText(query);
    const std::vector<Value> wanted = Sorted(*expected);
    const std::vector<Value> got = Sorted(result.rows);
    ASSERT_EQ(wanted.size(), got.size()) << "seed " << seed << ": " << ToText(query);
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_TRUE(Equals(wanted[i], got[i])) << "seed " << seed << ": " << ToText(query);
    }
  }
}

// Rule 1: rows rest at two barriers when the weight is whole; the outer one must wait.
TEST(RulesTest, ABarrierWaitsForThoseThatCanReachIt) {
  ExpectUnderAllSchedules(
      {Nest(Kind::kUnion, {{Of(Kind::kOut), Of(Kind::kCount)}, {Of(Kind::kIn), Of(Kind::kCount)}}),
       Of(Kind::kSum)});
  ExpectUnderAllSchedules(
      {Nest(Kind::kUnion, {{Of(Kind::kOut), Of(Kind::kCount)}, {Of(Kind::kIn)}}),
       Of(Kind::kCount)});
}

// Rule 6: count() of nothing is 0 where a row came by, and silent in a branch that nobody enters.
TEST(RulesTest, EmptyInputOfAReducer) {
  ExpectUnderAllSchedules({Of(Kind::kHasOver, 100), Of(Kind::kCount)});
  ExpectUnderAllSchedules(
      {Of(Kind::kHasOver, 100),
       Nest(Kind::kUnion, {{Of(Kind::kOut), Of(Kind::kCount)}, {Of(Kind::kCount)}})});
  ExpectUnderAllSchedules({Of(Kind::kHasOver, 5),
                           Nest(Kind::kLocal, {{Of(Kind::kOut), Of(Kind::kCount)}}),
                           Of(Kind::kSum)});
}

// Rule 3: a closed instance keeps its weight's account; what it still gets is dropped.
TEST(RulesTest, ClosedInstancesDropAndComplete) {
  const Traversal far = {Of(Kind::kBoth), Of(Kind::kBoth), Of(Kind::kBoth)};
  ExpectUnderAllSchedules({Nest(Kind::kWhere, {far})});
  ExpectUnderAllSchedules({Nest(Kind::kNot, {far}), Of(Kind::kCount)});
  ExpectUnderAllSchedules({Nest(Kind::kWhere, {{Nest(Kind::kWhere, {far}), Of(Kind::kOut)}})});
}

// Rule 4: state of an instance away from its home is let go with the instance.
TEST(RulesTest, StateInsideScopes) {
  ExpectUnderAllSchedules({Nest(
      Kind::kLocal, {{Of(Kind::kBoth), Of(Kind::kBoth), Of(Kind::kDedup), Of(Kind::kCount)}})});
  ExpectUnderAllSchedules({Nest(Kind::kLocal, {{Of(Kind::kOut), Of(Kind::kLimitCount, 2)}})});
}

// Rule 3: local(repeat(both()).emit().limit(3)) ends though its rows would circle for ever: the
// closed instance's rows are dropped wherever they are.
void ExpectClosingEnds(const Traversal& body) {
  Step loop = Nest(Kind::kRepeatEmit, {body});
  loop.number = 1'000'000'000;
  const RandomQuery query{{Nest(Kind::kLocal, {{loop, Of(Kind::kLimitCount, 3)}})}, std::nullopt};
  Rng graphs(7);
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const auto graph = MakeGraph(&graphs);
    const auto vertices = Evaluate({{}, std::nullopt}, *graph);
    ASSERT_TRUE(vertices.has_value());
    std::vector<Value> wanted;
    for (const Value& vertex : *vertices) {
      const VertexRef ref = vertex.AsVertex();
      std::vector<int64_t> degrees;
      ASSERT_TRUE(graph->Degrees({&ref, 1}, Direction::kBoth, {}, &degrees).ok());
      wanted.push_back(Value::Long(degrees[0] > 0 ? 3 : 0));
    }
    engine::SimulationOptions options;
    options.seed = seed;
    options.num_workers = static_cast<uint32_t>(1 + seed % 4);
    const engine::SimulationResult result = engine::Simulate(ToPlan(query), graph, options);
    ASSERT_TRUE(result.status.ok()) << result.status << " seed " << seed;
    EXPECT_EQ(Sorted(wanted).size(), result.rows.size()) << "seed " << seed;
    const std::vector<Value> got = Sorted(result.rows);
    wanted = Sorted(wanted);
    for (size_t i = 0; i < std::min(wanted.size(), got.size()); ++i) {
      EXPECT_TRUE(Equals(wanted[i], got[i])) << "seed " << seed;
    }
  }
}

TEST(RulesTest, ClosingEndsAnEndlessLoop) {
  ExpectClosingEnds({Of(Kind::kBoth)});
  ExpectClosingEnds({Of(Kind::kMerge, 3), Of(Kind::kBoth)});
}

// Alternatives run one after the other, each with a whole new weight.
TEST(RulesTest, Alternatives) {
  ExpectUnderAllSchedules({Nest(Kind::kCoalesce, {{Of(Kind::kHasOver, 8), Of(Kind::kOut)},
                                                  {Of(Kind::kOut), Of(Kind::kHasOver, 8)},
                                                  {Nest(Kind::kOptional, {{Of(Kind::kIn)}})}})});
}

}  // namespace
}  // namespace koios::simulation
