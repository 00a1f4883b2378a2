// A closed instance stops whoever is in the middle of its rows: counted in rows that came out,
// never in time.
#include "engine/sched/ends/closings.h"

#include "engine/sim/simulation.h"
#include "gtest/gtest.h"
#include "storage/memory_graph.h"

namespace koios::engine {
namespace {

constexpr size_t kHubEdges = 10'000;

// Adds an operator behind the last one.
plan::Operator* AppendOp(plan::Plan* plan, uint32_t scope = 0, uint32_t loop = 0) {
  const auto id = static_cast<uint32_t>(plan->operators_size());
  if (id > 0) plan->mutable_operators(static_cast<int>(id) - 1)->add_next(id);
  plan::Operator* op = plan->add_operators();
  op->set_id(id);
  op->set_scope(scope);
  op->set_loop(loop);
  return op;
}

// V() and the beginning of a scope; the scope's number.
uint32_t Begin(plan::Plan* plan) {
  plan->set_num_slots(1);
  AppendOp(plan)->mutable_partitions();
  AppendOp(plan)->mutable_exchange()->set_key(plan::Exchange::PARTITION);
  AppendOp(plan)->mutable_scan();
  plan::Operator* enter = AppendOp(plan);
  enter->mutable_scope_enter();
  return enter->id() + 1;
}

// out(); its number.
uint32_t AppendOut(plan::Plan* plan, uint32_t scope, uint32_t loop = 0) {
  AppendOp(plan, scope, loop)->mutable_exchange()->set_key(plan::Exchange::OWNER);
  plan::Operator* expand = AppendOp(plan, scope, loop);
  expand->mutable_expand()->set_direction(plan::OUT);
  return expand->id();
}

void Limit(plan::Plan* plan, uint32_t scope) {
  AppendOp(plan, scope)->mutable_exchange()->set_key(plan::Exchange::HOME);
  AppendOp(plan, scope)->mutable_limit()->set_high(1);
}

void AppendEnd(plan::Plan* plan, uint32_t scope, plan::ScopeExit::Policy policy) {
  AppendOp(plan, scope)->mutable_exchange()->set_key(plan::Exchange::HOME);
  plan::ScopeExit* exit = AppendOp(plan)->mutable_scope_exit();
  exit->set_enter(scope - 1);
  exit->set_policy(policy);
}

void Sink(plan::Plan* plan) {
  AppendOp(plan)->mutable_exchange()->set_key(plan::Exchange::HOME);
  AppendOp(plan)->mutable_sink();
}

// Some vertices, then a -> hub -> kHubEdges times one of them, which has no way on.
std::shared_ptr<const storage::MemoryGraph> HubGraph() {
  auto graph = std::make_shared<storage::MemoryGraph>(3);
  std::vector<VertexRef> vertices;
  for (int64_t i = 0; i < 6; ++i) {
    vertices.push_back(graph->AddVertex(Value::Long(i), "v").value());
  }
  EXPECT_TRUE(graph->AddEdge(vertices[2], vertices[3], "e").ok());
  for (size_t i = 0; i < kHubEdges; ++i) {
    EXPECT_TRUE(graph->AddEdge(vertices[3], vertices[5], "e").ok());
  }
  return graph;
}

SimulationResult RunOnHub(const plan::Plan& plan, uint32_t num_workers, uint64_t seed = 1,
                          size_t batch_rows = kBatchRows) {
  SimulationOptions options;
  options.seed = seed;
  options.num_workers = num_workers;
  options.profile = true;
  options.bounds.batch_rows = batch_rows;
  static const auto kGraph = HubGraph();
  SimulationResult result = Simulate(plan, kGraph, options);
  EXPECT_TRUE(result.status.ok()) << result.status;
  return result;
}

// The plan gives `rows` rows. Of each of the two instances that come to the hub its operator gives
// a batch and at most one more; on several workers as many as may be under way.
void ExpectStops(const plan::Plan& plan, uint32_t expand, size_t rows) {
  for (const size_t batch_rows : {kBatchRows, size_t{7}}) {
    const SimulationResult one = RunOnHub(plan, 1, 1, batch_rows);
    EXPECT_EQ(one.rows.size(), rows);
    EXPECT_LE(one.operators[expand].rows_out, 4 * batch_rows);
  }
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const SimulationResult some = RunOnHub(plan, 3, seed);
    EXPECT_EQ(some.rows.size(), rows);
    EXPECT_LE(some.operators[expand].rows_out, kHubEdges / 2) << "seed " << seed;
  }
}

TEST(ClosingsTest, WhereStopsInTheMiddleOfAHub) {
  plan::Plan plan;
  const uint32_t scope = Begin(&plan);
  AppendOut(&plan, scope);
  const uint32_t expand = AppendOut(&plan, scope);
  AppendEnd(&plan, scope, plan::ScopeExit::EXISTS);
  Sink(&plan);
  ExpectStops(plan, expand, 1);
}

TEST(ClosingsTest, NotStopsInTheMiddleOfAHub) {
  plan::Plan plan;
  const uint32_t scope = Begin(&plan);
  const uint32_t expand = AppendOut(&plan, scope);
  AppendEnd(&plan, scope, plan::ScopeExit::NONE);
  Sink(&plan);
  ExpectStops(plan, expand, 4);
}

TEST(ClosingsTest, ALimitInAScopeStopsInTheMiddleOfAHub) {
  plan::Plan plan;
  const uint32_t scope = Begin(&plan);
  const uint32_t expand = AppendOut(&plan, scope);
  Limit(&plan, scope);
  AppendEnd(&plan, scope, plan::ScopeExit::ALL);
  Sink(&plan);
  ExpectStops(plan, expand, 2);
}

// local(repeat(out()).emit().limit(1)): each iteration has a cursor of its own.
TEST(ClosingsTest, ALimitStopsALoopInTheMiddleOfAHub) {
  plan::Plan plan;
  const uint32_t scope = Begin(&plan);
  plan::Operator* enter = AppendOp(&plan, scope);
  enter->mutable_loop_enter();
  const uint32_t loop = enter->id() + 1;
  const uint32_t expand = AppendOut(&plan, scope, loop);
  plan::Operator* emit = AppendOp(&plan, scope, loop);
  emit->mutable_split()->set_copy(true);
  const auto split = static_cast<int>(emit->id());
  plan::Operator* back = AppendOp(&plan, scope, loop);
  back->mutable_loop_back()->set_enter(loop - 1);
  back->add_next(loop);
  plan::Operator* exit = AppendOp(&plan, scope);
  exit->mutable_loop_exit()->set_enter(loop - 1);
  plan.mutable_operators(split + 1)->mutable_next()->RemoveLast();  // back only
  plan.mutable_operators(split)->add_next(exit->id());
  Limit(&plan, scope);
  AppendEnd(&plan, scope, plan::ScopeExit::ALL);
  Sink(&plan);
  ExpectStops(plan, expand, 2);
}

// local(out().local(out()).limit(1)): with the outer instance those inside it end.
TEST(ClosingsTest, InnerInstancesStopWithTheirOuterOne) {
  plan::Plan plan;
  const uint32_t scope = Begin(&plan);
  AppendOut(&plan, scope);
  plan::Operator* enter = AppendOp(&plan, scope);
  enter->mutable_scope_enter();
  const uint32_t inner = enter->id() + 1;
  const uint32_t expand = AppendOut(&plan, inner);
  AppendOp(&plan, inner)->mutable_exchange()->set_key(plan::Exchange::HOME);
  plan::Operator* exit = AppendOp(&plan, scope);
  exit->mutable_scope_exit()->set_enter(inner - 1);
  exit->mutable_scope_exit()->set_policy(plan::ScopeExit::ALL);
  Limit(&plan, scope);
  AppendEnd(&plan, scope, plan::ScopeExit::ALL);
  Sink(&plan);
  ExpectStops(plan, expand, 1);
}

// Of what is dropped profile() tells.
TEST(ClosingsTest, RowsPassedOverAreCounted) {
  plan::Plan plan;
  const uint32_t scope = Begin(&plan);
  const uint32_t expand = AppendOut(&plan, scope);
  AppendEnd(&plan, scope, plan::ScopeExit::EXISTS);
  Sink(&plan);
  EXPECT_EQ(RunOnHub(plan, 1).operators[expand].rows_dropped, 1u);
}

TEST(ClosingsTest, AnInstanceStaysClosedUntilItIsOver) {
  plan::Plan plan;
  const uint32_t scope = Begin(&plan);
  const uint32_t expand = AppendOut(&plan, scope);
  AppendEnd(&plan, scope, plan::ScopeExit::EXISTS);
  Sink(&plan);
  Closings closings(plan);
  const engine::Run run{{0, 7}, {}, 1, 0};
  const engine::Run other{{1, 7}, {}, 1, 0};
  EXPECT_FALSE(closings.any());
  EXPECT_TRUE(closings.Close(scope + 3, run.instance));
  EXPECT_FALSE(closings.Close(scope + 3, run.instance));
  EXPECT_TRUE(closings.any());
  EXPECT_TRUE(closings.Drops(expand, run));
  EXPECT_TRUE(closings.Drops(scope + 3, run));
  EXPECT_FALSE(closings.Drops(expand, other));
  EXPECT_FALSE(closings.Drops(expand));
  closings.Forget(run.instance);
  EXPECT_FALSE(closings.Drops(expand, run));
}

}  // namespace
}  // namespace koios::engine
