// Rewrites of walks change no answer: each question is asked in a form that the planner's rules
// rewrite and in one that means the same and is left as it is, on random graphs, on one to three
// workers. The plans say that the one is rewritten and the other is not.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/random.h"
#include "engine/result/element_resolver.h"
#include "engine/sim/simulation.h"
#include "parser/parser.h"
#include "planner/explain.h"
#include "planner/planner.h"
#include "tests/golden/simulated/golden_graphs.h"
#include "tests/golden/simulated/golden_text.h"

namespace koios::golden {
namespace {

struct Question {
  const char* rewritten;
  const char* plain;
  const char* operator_;  // that only the rewritten one has
};

// Where a child ends is asked for by its number of results, which no rule looks into.
constexpr Question kQuestions[] = {
    {"g.V().where(out('a').has('name', 'n3')).id()",
     "g.V().where(out('a').has('name', 'n3').count().is(gt(0))).id()", "Reach(PASS"},
    {"g.V().where(out('a').hasId(3)).id()", "g.V().where(out('a').hasId(3).count().is(gt(0))).id()",
     "Reach(PASS"},
    {"g.V().not(out().out('b').has('name', within('n3', 'n5', 'none'))).id()",
     "g.V().where(out().out('b').has('name', within('n3', 'n5', 'none')).count().is(0)).id()",
     "Reach(STOP"},
    {"g.V().choose(__.in('a').values('name').is('n1'), constant(1), constant(0))",
     "g.V().choose(__.in('a').values('name').is('n1').count().is(gt(0)), constant(1), constant(0))",
     "Reach(FLAG"},
    {"g.V().out().where(both('a').hasLabel('odd').out().has('name', 'n2')).id()",
     "g.V().out().where(both('a').hasLabel('odd').out().has('name', 'n2').count().is(gt(0))).id()",
     "Reach(PASS"},
    {"g.V().out().hasLabel('odd').where(out('a').has('name', 'n3')).id()",
     "g.V().out().hasLabel('odd').where(out('a').has('name', 'n3').count().is(gt(0))).id()",
     "Reach(PASS"},
    {"g.V().where(out('a').emit().repeat(out('t')).has('name', 'n4')).id()",
     "g.V().where(out('a').union(identity(), out('t'), out('t').out('t'), "
     "out('t').out('t').out('t'), out('t').out('t').out('t').out('t')).has('name', 'n4'))."
     "id()",
     "Reach(PASS"},
    {"g.V().where(outE('a').inV().where(out('b').has('name', 'n2'))).id()",
     "g.V().where(outE('a').inV().where(out('b').has('name', 'n2').count().is(gt(0))).count()."
     "is(gt(0))).id()",
     "Reach(PASS"},
    {"g.V().as('a').out().where(out('a').where(eq('a'))).id()",
     "g.V().as('a').out().where(out('a').as('z').where('z', eq('a')).count().is(gt(0))).id()",
     "Reach(PASS"},
    {"g.V().as('a').both().where(out().out().as('a')).id()",
     "g.V().as('a').both().where(out().out().as('z').where('z', eq('a')).count().is(gt(0))).id()",
     "Reach(PASS"},
    {"g.V().as('a').out().out().where(eq('a')).id()",
     "g.V().as('a').out().out().as('z').where('z', eq('a')).id()", "Reach(COUNT"},
    {"g.V().as('a').out().both('a').out().where(eq('a')).id()",
     "g.V().as('a').out().both('a').out().as('z').where('z', eq('a')).id()", "Reach(COUNT"},
    {"g.V(2).as('a').both().out().both().out().where(eq('a')).count()",
     "g.V(2).as('a').both().out().both().out().as('z').where('z', eq('a')).count()", "Reach(COUNT"},
    {"g.V().as('a').out().as('b').out().hasLabel('odd').out().where(eq('a')).select('b').id()",
     "g.V().as('a').out().as('b').out().hasLabel('odd').out().as('z').where('z', eq('a'))."
     "select('b').id()",
     "Reach(COUNT"},
    {"g.V().as('a').out().out().where(eq('a')).path().by(id)",
     "g.V().as('a').out().out().as('z').where('z', eq('a')).path().by(id)", nullptr},
    {"g.V(1).repeat(both().simplePath()).until(hasId(6)).limit(1).path().count(local)",
     "g.V(1).repeat(both().simplePath()).until(or(hasId(6), "
     "hasId(6))).limit(1).path().count(local)",
     "ShortestPath("},
    {"g.V(1).local(both().order().by(id).limit(1)).limit(1).repeat(both().simplePath())."
     "until(hasId(6)).limit(1).path().count(local)",
     "g.V(1).local(both().order().by(id).limit(1)).limit(1).repeat(both().simplePath())."
     "until(or(hasId(6), hasId(6))).limit(1).path().count(local)",
     nullptr},
    {"g.V(1).repeat(out()).until(has('name', 'n6')).limit(1).id()",
     "g.V(1).repeat(out().dedup()).until(or(has('name', 'n6'), hasId(6))).limit(1).id()",
     "ShortestPath("},
    {"g.V(1).until(hasId(6)).repeat(__.in('a').dedup()).path().limit(1).count(local)",
     "g.V(1).until(or(hasId(6), hasId(6))).repeat(__.in('a').dedup()).path().limit(1).count(local)",
     "ShortestPath("},
    {"g.V(1).repeat(both('a', 't').hasLabel('odd').dedup()).until(hasId(6)).limit(1).path()."
     "count(local)",
     "g.V(1).repeat(both('a', 't').hasLabel('odd').dedup()).until(or(hasId(6), hasId(6))).limit(1)."
     "path().count(local)",
     "ShortestPath("},
    {"g.V(1).repeat(both().dedup()).until(hasId(1)).path().limit(1).count(local)",
     "g.V(1).repeat(both().dedup()).until(or(hasId(1), hasId(1))).path().limit(1).count(local)",
     "ShortestPath("},
    {"g.V(6).as('t').V(1).repeat(out().dedup()).until(where(eq('t'))).limit(1).id()",
     "g.V(1).repeat(out().dedup()).until(or(hasId(6), hasId(6))).limit(1).id()", "ShortestPath("},
    {"g.V().project('d').by(coalesce(until(hasId(6)).repeat(out('a').dedup()).limit(1).path()."
     "count(local), constant(-1)))",
     "g.V().project('d').by(coalesce(until(or(hasId(6), hasId(6))).repeat(out('a').dedup())."
     "limit(1).path().count(local), constant(-1)))",
     "ShortestPath("},
};

// Vertices n0, n1, ...; edges of `a` and `b` anywhere, of `t` few and to larger numbers, so that no
// walk has more than four.
std::shared_ptr<storage::MemoryGraph> RandomGraph(uint64_t seed) {
  auto graph = std::make_shared<storage::MemoryGraph>();
  Rng rng(seed);
  std::vector<VertexRef> vertices;
  const size_t count = 7 + rng.Uniform(6);
  for (size_t i = 0; i < count; ++i) {
    const auto id = static_cast<int64_t>(i);
    vertices.push_back(graph
                           ->AddVertex(Value::Long(id), i % 2 == 0 ? "even" : "odd",
                                       {{"name", Value::String("n" + std::to_string(i))}})
                           .value());
  }
  const auto add = [&](const char* label, size_t edges) {
    for (size_t i = 0; i < edges; ++i) {
      size_t out = rng.Uniform(count), in = rng.Uniform(count);
      if (label[0] == 't') {
        if (out == in) continue;
        if (out > in) std::swap(out, in);
      }
      EXPECT_TRUE(graph->AddEdge(vertices[out], vertices[in], label).ok());
    }
  };
  add("a", rng.Uniform(2 * count));
  add("b", rng.Uniform(count));
  add("t", rng.Uniform(5));
  if (seed % 2 == 0) IndexAll(graph.get());
  return graph;
}

planner::PlannedQuery PlanOf(const std::string& text, const storage::MemoryGraph& graph) {
  const StatusOr<parser::Query> query = parser::Parse(text);
  EXPECT_TRUE(query.ok()) << text << query.status();
  planner::PlanContext context;
  context.schema = &graph.schema();
  StatusOr<planner::PlannedQuery> planned = planner::PlanQuery(*query, context);
  EXPECT_TRUE(planned.ok()) << text << planned.status();
  return *std::move(planned);
}

std::vector<std::string> AnswersTo(const plan::Plan& plan,
                                   const std::shared_ptr<const storage::GraphView>& graph,
                                   uint64_t seed) {
  engine::SimulationOptions options;
  options.seed = seed;
  options.num_workers = static_cast<uint32_t>(1 + seed % 3);
  options.shared_view = seed % 4 == 0;
  options.memory_limit_bytes = uint64_t{256} << 20;
  options.max_turns = 2'000'000;
  engine::SimulationResult result = engine::Simulate(plan, graph, options);
  EXPECT_TRUE(result.status.ok()) << result.status;
  engine::ElementResolver resolver(*graph, /*materialize=*/false);
  for (const Value& row : result.rows) resolver.Collect(row);
  EXPECT_TRUE(resolver.Load().ok());
  std::vector<std::string> texts;
  for (Value& row : result.rows) {
    texts.push_back(ToText(resolver.Resolve(row).value(), TextOptions{false, true}));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

TEST(RewriteTest, WalksAreTheSameFromBothSides) {
  size_t rows = 0;
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const auto graph = RandomGraph(seed);
    for (const Question& question : kQuestions) {
      const planner::PlannedQuery rewritten = PlanOf(question.rewritten, *graph);
      const planner::PlannedQuery plain = PlanOf(question.plain, *graph);
      const auto has = [&](const planner::PlannedQuery& query) {
        return planner::PhysicalText(query.plan).find(question.operator_) != std::string::npos;
      };
      if (question.operator_ != nullptr) {
        EXPECT_TRUE(has(rewritten)) << question.rewritten;
        EXPECT_FALSE(has(plain)) << question.plain;
      }
      const std::vector<std::string> expected = AnswersTo(plain.plan, graph, seed);
      rows += expected.size();
      EXPECT_EQ(AnswersTo(rewritten.plan, graph, seed + 1), expected)
          << "seed " << seed << ": " << question.rewritten;
    }
  }
  EXPECT_GT(rows, 500u);
}

}  // namespace
}  // namespace koios::golden
