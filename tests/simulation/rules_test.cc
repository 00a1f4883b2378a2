// The traversals that break without a rule of the protocol, each under many schedules: stages as a
// partial order, silent branches, zeros, sticky closing, state in nested scopes.
#include <algorithm>
#include <functional>

#include "core/testing/rounds.h"
#include "core/value_codec.h"
#include "core/value_compare.h"
#include "engine/sim/simulation.h"
#include "gtest/gtest.h"
#include "storage/numbers.h"
#include "storage/transaction/transaction.h"
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
    const std::vector<Value> wanted = Sorted(expected->rows);
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
  for (uint64_t seed = 1; seed <= TestRounds(60, 15); ++seed) {
    const auto graph = MakeGraph(&graphs);
    const auto vertices = Evaluate({{}, std::nullopt}, *graph);
    ASSERT_TRUE(vertices.has_value());
    std::vector<Value> wanted;
    for (const Value& vertex : vertices->rows) {
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

// Adds an operator behind the last one, in the scope of `enter` (-1: the root).
plan::Operator* Append(plan::Plan* plan, int enter = -1) {
  const auto id = static_cast<uint32_t>(plan->operators_size());
  if (id > 0) plan->mutable_operators(static_cast<int>(id) - 1)->add_next(id);
  plan::Operator* op = plan->add_operators();
  op->set_id(id);
  op->set_scope(static_cast<uint32_t>(enter + 1));
  return op;
}

// V() and what follows it, on one worker.
plan::Plan EffectPlan() {
  plan::Plan plan;
  plan.set_num_slots(1);
  plan.set_stays_home(true);
  Append(&plan)->mutable_partitions();
  Append(&plan)->mutable_exchange()->set_key(plan::Exchange::PARTITION);
  Append(&plan)->mutable_scan();
  return plan;
}

void CapAndSink(plan::Plan* plan) {
  Append(plan)->mutable_cap()->add_names("x");
  Append(plan)->mutable_exchange()->set_key(plan::Exchange::HOME);
  Append(plan)->mutable_sink();
}

// How many values are gathered, under many schedules: as many as `wanted` says of the numbers of
// vertices and edges.
void ExpectGathered(const plan::Plan& plan, const std::function<size_t(size_t, size_t)>& wanted) {
  Rng graphs(5);
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const auto graph = MakeGraph(&graphs);
    const auto vertices = Evaluate({{}, std::nullopt}, *graph);
    engine::SimulationOptions options;
    options.seed = seed;
    options.num_workers = static_cast<uint32_t>(1 + seed % 5);
    options.deliver_percent = static_cast<uint32_t>(5 + seed * 7 % 90);
    const engine::SimulationResult result = engine::Simulate(plan, graph, options);
    ASSERT_TRUE(result.status.ok()) << result.status << " seed " << seed;
    ASSERT_EQ(result.rows.size(), 1u) << "seed " << seed;
    size_t edges = 0;
    for (const Value& vertex : vertices->rows) {
      const VertexRef ref = vertex.AsVertex();
      std::vector<int64_t> degrees;
      ASSERT_TRUE(graph->Degrees({&ref, 1}, Direction::kOut, {}, &degrees).ok());
      edges += static_cast<size_t>(degrees[0]);
    }
    ASSERT_EQ(result.rows[0].AsList().size(), wanted(vertices->rows.size(), edges))
        << "seed " << seed;
  }
}

// local(aggregate('x')) behind the plan so far.
void LocalAggregate(plan::Plan* plan) {
  const auto enter = static_cast<int>(Append(plan)->id());
  plan->mutable_operators(enter)->mutable_scope_enter()->set_serial(true);
  Append(plan, enter)->mutable_aggregate()->set_name("x");
  Append(plan, enter)->mutable_exchange()->set_key(plan::Exchange::HOME);
  plan::ScopeExit* exit = Append(plan)->mutable_scope_exit();
  exit->set_enter(static_cast<uint32_t>(enter));
  exit->set_policy(plan::ScopeExit::ALL);
}

// Rule 9: local(aggregate('x')) adds one by one, as far as the limit behind it asks for rows;
// aggregate('x') adds all.
TEST(RulesTest, EffectsBeforeAnEarlyStop) {
  plan::Plan lazy = EffectPlan();
  LocalAggregate(&lazy);
  Append(&lazy)->mutable_limit()->set_high(2);
  CapAndSink(&lazy);
  ExpectGathered(lazy, [](size_t vertices, size_t) { return std::min<size_t>(vertices, 2); });

  plan::Plan eager = EffectPlan();
  Append(&eager)->mutable_exchange()->set_key(plan::Exchange::HOME);
  Append(&eager)->mutable_aggregate()->set_name("x");
  Append(&eager)->mutable_limit()->set_high(2);
  CapAndSink(&eager);
  ExpectGathered(eager, [](size_t vertices, size_t) { return vertices; });
}

// Rule 7: what has an effect is done for each traverser of a bulk. Here a vertex stands for as many
// traversers as it has edges out.
TEST(RulesTest, EffectsForEachTraverserOfABulk) {
  plan::Plan plan = EffectPlan();
  plan::Expr* bulk = Append(&plan)->mutable_filter()->mutable_predicate();
  bulk->add_nodes()->set_slot(0);
  bulk->add_nodes()->set_constant(EncodeValue(Value::Int(plan::OUT)));
  plan::Expr::Call* degree = bulk->add_nodes()->mutable_call();
  degree->set_function("degree");
  degree->add_args(0);
  degree->add_args(1);
  LocalAggregate(&plan);
  CapAndSink(&plan);
  ExpectGathered(plan, [](size_t, size_t edges) { return edges; });
}

// Rule 2: branches, options and iterations own no weight: what stands in them is the enclosing
// instance's, which is whole only when all of it is back, however they nest.
TEST(RulesTest, GlobalScopesOwnNoWeight) {
  const Traversal both = {Of(Kind::kBoth)};
  Step loop = Nest(Kind::kRepeatEmit, {{Nest(Kind::kUnion, {both, {Of(Kind::kOut)}})}});
  loop.number = 2;
  ExpectUnderAllSchedules({loop, Of(Kind::kCount)});
  Step inner = Nest(Kind::kRepeat, {{Of(Kind::kOut)}});
  inner.number = 2;
  ExpectUnderAllSchedules(
      {Nest(Kind::kLocal, {{Nest(Kind::kUnion, {{inner}, {Nest(Kind::kUnion, {both, both})}}),
                            Of(Kind::kCount)}}),
       Of(Kind::kSum)});
  ExpectUnderAllSchedules(
      {Nest(Kind::kUnion, {{loop, Of(Kind::kCount)}, {inner}}), Of(Kind::kCount)});
}

// Rule 5: dedup() streams, and its set spans the iterations: repeat(dedup()).times(2) lets nothing
// through, repeat(dedup().both()).times(2) what both() gives anew in the first and then nothing.
TEST(RulesTest, DedupRemembersOverIterations) {
  Step same = Nest(Kind::kRepeat, {{Of(Kind::kDedup)}});
  same.number = 2;
  ExpectUnderAllSchedules({same, Of(Kind::kCount)});
  Step wander = Nest(Kind::kRepeat, {{Of(Kind::kDedup), Of(Kind::kBoth)}});
  wander.number = 2;
  ExpectUnderAllSchedules({wander});
  Step emitting = Nest(Kind::kRepeatEmit, {{Of(Kind::kOut), Of(Kind::kDedup)}});
  emitting.number = 3;
  ExpectUnderAllSchedules({Of(Kind::kHasOver, 5), emitting, Of(Kind::kCount)});
}

// Rule 9: V().property('x', 1).limit(1) changes one vertex, wherever the schedule lets it begin:
// the scope around the effect takes one traverser after the other.
TEST(RulesTest, AChangeBeforeALimitIsMadeOnce) {
  plan::Plan plan = EffectPlan();
  plan.set_mutates(true);
  const auto enter = static_cast<int>(Append(&plan)->id());
  plan.mutable_operators(enter)->mutable_scope_enter()->set_serial(true);
  plan::PropertyExpr* property = Append(&plan, enter)->mutable_set_property()->mutable_property();
  property->mutable_key()->add_nodes()->set_constant(EncodeValue(Value::String("x")));
  property->mutable_value()->add_nodes()->set_constant(EncodeValue(Value::Int(1)));
  Append(&plan, enter)->mutable_exchange()->set_key(plan::Exchange::HOME);
  plan::ScopeExit* exit = Append(&plan)->mutable_scope_exit();
  exit->set_enter(static_cast<uint32_t>(enter));
  exit->set_policy(plan::ScopeExit::ALL);
  Append(&plan)->mutable_limit()->set_high(1);
  Append(&plan)->mutable_exchange()->set_key(plan::Exchange::HOME);
  Append(&plan)->mutable_sink();

  Rng graphs(5);
  for (uint64_t seed = 1; seed <= TestRounds(60, 15); ++seed) {
    const auto graph = MakeGraph(&graphs);
    const auto vertices = Evaluate({{}, std::nullopt}, *graph);
    engine::SimulationOptions options;
    options.seed = seed;
    options.num_workers = static_cast<uint32_t>(1 + seed % 5);
    options.transaction = std::make_shared<storage::Transaction>(
        graph, std::make_shared<storage::Numbers>(graph->num_partitions()));
    const engine::SimulationResult result = engine::Simulate(plan, options.transaction, options);
    ASSERT_TRUE(result.status.ok()) << result.status << " seed " << seed;
    std::vector<VertexRef> refs;
    for (const Value& vertex : vertices->rows) refs.push_back(vertex.AsVertex());
    const KeyId key = options.transaction->schema().keys.Find("x");
    storage::PropertyRows found;
    if (key != kNoName) {
      ASSERT_TRUE(options.transaction->VertexProperties(refs, {&key, 1}, &found).ok());
    }
    EXPECT_EQ(found.rows.size(), std::min<size_t>(refs.size(), 1)) << "seed " << seed;
  }
}

// V().out().limit(2) of a graph that has more elements than a query may see before it spreads: the
// same rows, however many workers there are and whatever the schedule is.
TEST(RulesTest, ALimitTakesTheSameRows) {
  plan::Plan plan;
  plan.set_num_slots(1);
  Append(&plan)->mutable_partitions();
  Append(&plan)->mutable_exchange()->set_key(plan::Exchange::PARTITION);
  Append(&plan)->mutable_scan();
  Append(&plan)->mutable_exchange()->set_key(plan::Exchange::OWNER);
  Append(&plan)->mutable_expand();
  Append(&plan)->mutable_exchange()->set_key(plan::Exchange::HOME);
  Append(&plan)->mutable_limit()->set_high(2);
  Append(&plan)->mutable_exchange()->set_key(plan::Exchange::HOME);
  Append(&plan)->mutable_sink();

  const auto graph = std::make_shared<storage::MemoryGraph>(8);
  std::vector<VertexRef> vertices;
  for (int64_t i = 0; i < 400; ++i) {
    vertices.push_back(graph->AddVertex(Value::Long(i), "v").value());
  }
  for (size_t i = 0; i < vertices.size(); ++i) {
    ASSERT_TRUE(graph->AddEdge(vertices[i], vertices[(i + 7) % vertices.size()], "e").ok());
  }
  std::optional<std::vector<Value>> first;
  for (uint64_t seed = 1; seed <= TestRounds(60, 15); ++seed) {
    engine::SimulationOptions options;
    options.seed = seed;
    options.num_workers = static_cast<uint32_t>(1 + seed % 5);
    options.shared_view = true;
    options.spread_after_rows = 200;
    options.deliver_percent = static_cast<uint32_t>(5 + seed * 7 % 90);
    const engine::SimulationResult result = engine::Simulate(plan, graph, options);
    ASSERT_TRUE(result.status.ok()) << result.status << " seed " << seed;
    ASSERT_EQ(result.rows.size(), 2u) << "seed " << seed;
    if (!first) first = result.rows;
    for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(Equals(result.rows[i], (*first)[i])) << seed;
  }
}

// Rows of equal value meet although they come from several workers: a Merge lets go when no rows
// are under way, whichever worker is idle first.
TEST(RulesTest, SeveralWorkersMergeAsWellAsOne) {
  plan::Plan plan;
  plan.set_num_slots(1);
  Append(&plan)->mutable_partitions();
  Append(&plan)->mutable_exchange()->set_key(plan::Exchange::PARTITION);
  Append(&plan)->mutable_scan();
  std::vector<size_t> merges;
  for (int hop = 0; hop < 4; ++hop) {
    Append(&plan)->mutable_exchange()->set_key(plan::Exchange::OWNER);
    merges.push_back(static_cast<size_t>(plan.operators_size()));
    Append(&plan)->mutable_merge()->set_capacity(1000);
    Append(&plan)->mutable_expand()->set_direction(plan::BOTH);
  }
  Append(&plan)->mutable_reduce()->set_stage(plan::PARTIAL);
  Append(&plan)->mutable_exchange()->set_key(plan::Exchange::HOME);
  Append(&plan)->mutable_reduce();
  Append(&plan)->mutable_sink();

  Rng graphs(11);
  for (uint64_t seed = 1; seed <= TestRounds(60, 15); ++seed) {
    const auto graph = MakeGraph(&graphs);
    const auto vertices = Evaluate({{}, std::nullopt}, *graph);
    engine::SimulationOptions options;
    options.seed = seed;
    options.num_workers = static_cast<uint32_t>(2 + seed % 4);
    options.shared_view = false;
    options.profile = true;
    options.deliver_percent = static_cast<uint32_t>(5 + seed * 7 % 90);
    const engine::SimulationResult result = engine::Simulate(plan, graph, options);
    ASSERT_TRUE(result.status.ok()) << result.status << " seed " << seed;
    for (const size_t merge : merges) {
      EXPECT_LE(result.operators[merge].rows_out, vertices->rows.size()) << "seed " << seed;
    }
  }
}

// A dedup() before a dedup(): what passed is dropped by whichever worker owns it, and held back by
// none.
plan::Dedup* AppendEarlyDedup(plan::Plan* plan) {
  plan::Dedup* early = Append(plan)->mutable_dedup();
  early->add_key_slots(0);
  early->set_stage(plan::PARTIAL);
  return early;
}

TEST(RulesTest, SeveralWorkersDropAsWellAsOne) {
  plan::Plan plan;
  plan.set_num_slots(1);
  Append(&plan)->mutable_partitions();
  Append(&plan)->mutable_exchange()->set_key(plan::Exchange::PARTITION);
  Append(&plan)->mutable_scan();
  std::vector<size_t> drops;
  for (int hop = 0; hop < 4; ++hop) {
    Append(&plan)->mutable_exchange()->set_key(plan::Exchange::OWNER);
    drops.push_back(static_cast<size_t>(plan.operators_size()));
    AppendEarlyDedup(&plan);
    Append(&plan)->mutable_expand()->set_direction(plan::BOTH);
  }
  Append(&plan)->mutable_exchange()->set_key(plan::Exchange::HOME);
  Append(&plan)->mutable_sink();
  Rng graphs(11);
  for (uint64_t seed = 1; seed <= TestRounds(60, 15); ++seed) {
    const auto graph = MakeGraph(&graphs);
    const auto vertices = Evaluate({{}, std::nullopt}, *graph);
    engine::SimulationOptions options;
    options.seed = seed;
    options.num_workers = static_cast<uint32_t>(2 + seed % 4);
    options.shared_view = false;
    options.profile = true;
    const engine::SimulationResult result = engine::Simulate(plan, graph, options);
    ASSERT_TRUE(result.status.ok()) << result.status << " seed " << seed;
    for (const size_t drop : drops) {
      EXPECT_LE(result.operators[drop].rows_out, vertices->rows.size()) << "seed " << seed;
    }
  }
}

// repeat(both()).emit().dedup() goes round until nothing is new.
TEST(RulesTest, DroppingWhatWasMetEndsALoop) {
  plan::Plan plan;
  plan.set_num_slots(1);
  Append(&plan)->mutable_partitions();
  Append(&plan)->mutable_exchange()->set_key(plan::Exchange::PARTITION);
  Append(&plan)->mutable_scan();
  Append(&plan)->mutable_loop_enter();
  const auto enter = static_cast<uint32_t>(plan.operators_size()) - 1;
  Append(&plan)->mutable_exchange()->set_key(plan::Exchange::OWNER);
  AppendEarlyDedup(&plan);
  Append(&plan)->mutable_expand()->set_direction(plan::BOTH);
  plan::Operator* copy = Append(&plan);
  copy->mutable_split()->set_copy(true);
  const auto split = static_cast<int>(copy->id());
  Append(&plan)->mutable_loop_back()->set_enter(enter);
  for (auto id = static_cast<int>(enter) + 1; id < plan.operators_size(); ++id) {
    plan.mutable_operators(id)->set_loop(enter + 1);
  }
  plan::Operator* exit = Append(&plan);
  exit->mutable_loop_exit()->set_enter(enter);
  plan.mutable_operators(split + 1)->set_next(0, enter + 1);
  plan.mutable_operators(split)->add_next(exit->id());
  plan::Exchange* by_value = Append(&plan)->mutable_exchange();
  by_value->set_key(plan::Exchange::HASH);
  by_value->add_hash_slots(0);
  Append(&plan)->mutable_dedup()->add_key_slots(0);
  Append(&plan)->mutable_exchange()->set_key(plan::Exchange::HOME);
  Append(&plan)->mutable_sink();
  Rng graphs(13);
  for (uint64_t seed = 1; seed <= TestRounds(60, 15); ++seed) {
    const auto graph = MakeGraph(&graphs);
    const auto ends = Evaluate({{Of(Kind::kBoth), Of(Kind::kDedup)}, std::nullopt}, *graph);
    engine::SimulationOptions options;
    options.seed = seed;
    options.num_workers = static_cast<uint32_t>(1 + seed % 4);
    const engine::SimulationResult result = engine::Simulate(plan, graph, options);
    ASSERT_TRUE(result.status.ok()) << result.status << " seed " << seed;
    EXPECT_EQ(result.rows.size(), ends->rows.size()) << "seed " << seed;
  }
}

// Alternatives run one after the other, each with a whole new weight.
TEST(RulesTest, Alternatives) {
  ExpectUnderAllSchedules({Nest(Kind::kCoalesce, {{Of(Kind::kHasOver, 8), Of(Kind::kOut)},
                                                  {Of(Kind::kOut), Of(Kind::kHasOver, 8)},
                                                  {Nest(Kind::kOptional, {{Of(Kind::kIn)}})}})});
}

}  // namespace
}  // namespace koios::simulation
