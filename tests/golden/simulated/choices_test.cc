// Random traversals over random graphs, planned without statistics and with ones that say anything:
// where a walk begins, which index is asked and what is tested first changes, and no answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/random.h"
#include "core/value_codec.h"
#include "engine/sim/simulation.h"
#include "parser/parser.h"
#include "planner/planner.h"
#include "tests/golden/simulated/golden_graphs.h"
#include "tests/golden/simulated/made_up_statistics.h"

namespace koios::golden {
namespace {

constexpr uint64_t kGraphs = 12, kTraversals = 60, kVertices = 40, kEdges = 90;

std::shared_ptr<storage::MemoryGraph> GraphOfChoices(Rng* random) {
  auto graph = std::make_shared<storage::MemoryGraph>(4);
  std::vector<VertexRef> vertices;
  for (uint64_t i = 0; i < kVertices; ++i) {
    storage::PropertyList properties;
    properties.emplace_back("k", Value::Long(static_cast<int64_t>(random->Uniform(8))));
    if (random->Chance(0.6)) {
      properties.emplace_back("t", Value::String(std::string(1, "xyz"[random->Uniform(3)])));
    }
    const std::string label(1, "ABC"[random->Uniform(3)]);
    vertices.push_back(
        graph->AddVertex(Value::Long(static_cast<int64_t>(i)), label, properties).value());
  }
  for (uint64_t i = 0; i < kEdges; ++i) {
    // Some parallel edges, and some loops.
    const VertexRef out = vertices[random->Uniform(kVertices)];
    const VertexRef in = random->Chance(0.1) ? out : vertices[random->Uniform(kVertices)];
    const Value weight = Value::Int(static_cast<int32_t>(random->Uniform(4)));
    for (uint64_t times = 1 + random->Uniform(5) / 4; times > 0; --times) {
      EXPECT_TRUE(
          graph->AddEdge(out, in, std::string(1, "rs"[random->Uniform(2)]), {{"w", weight}}).ok());
    }
  }
  IndexAll(graph.get());
  return graph;
}

class Traversals {
 public:
  explicit Traversals(Rng* random) : random_(*random) {}

  std::string Next() {
    names_ = 0;
    std::string text = "g.V()";
    if (random_.Chance(0.7)) text += ".hasLabel('" + Label() + "')";
    text += Tests();
    for (uint64_t hops = random_.Uniform(4); hops > 0; --hops) text += Hop() + Tests();
    if (random_.Chance(0.5)) text += Pick({".hasId(" + Id() + ")", ".has('k', " + Number() + ")"});
    return text + End();
  }

 private:
  std::string Pick(const std::vector<std::string>& of) { return of[random_.Uniform(of.size())]; }
  std::string Label() { return Pick({"A", "B", "C"}); }
  std::string Edges() { return Pick({"'r'", "'s'", "'r', 's'", ""}); }
  std::string Number() { return std::to_string(random_.Uniform(8)); }
  std::string Id() { return std::to_string(random_.Uniform(kVertices + 2)); }

  std::string Hop() {
    const std::string edges = Edges();
    return Pick({".out(" + edges + ")", ".in(" + edges + ")", ".both(" + edges + ")",
                 ".outE(" + edges + ").inV()", ".inE(" + edges + ").has('w', gt(1)).outV()",
                 ".outE(" + edges + ").has('w', " + Number() + ").inV()"});
  }

  std::string Test() {
    const std::string number = Number();
    if (random_.Chance(0.15)) return ".as('n" + std::to_string(names_++) + "')";
    return Pick({".has('k', " + number + ")", ".has('k', gt(" + number + "))",
                 ".has('k', lt(" + number + "))", ".has('k', within(1, " + number + "))",
                 ".has('" + Label() + "', 'k', neq(" + number + "))",
                 ".hasLabel('" + Label() + "')", ".has('t', containing('x'))",
                 ".has('t', neq('y'))", ".hasNot('t')", ".where(out(" + Edges() + "))",
                 ".not(__.in(" + Edges() + "))", ".where(out().has('k', " + number + "))",
                 ".where(out(" + Edges() + ").in('s').has('k', " + number + "))",
                 ".not(__.in(" + Edges() + ").has('t', containing('x')).hasId(" + Id() + "))",
                 ".and(has('t', startingWith('x')), has('k', " + number + "))",
                 ".and(has('k', gt(1)), out('r').count().is(lt(3)))",
                 ".or(has('k', " + number + "), hasId(" + Id() + "))"});
  }
  std::string Tests() {
    std::string text;
    for (uint64_t i = random_.Uniform(4); i > 0; --i) text += Test();
    return text;
  }

  std::string End() {
    if (names_ > 0 && random_.Chance(0.4)) return ".select('n0')" + Pick({"", ".values('k')"});
    return Pick({"", ".count()", ".count()", ".values('k')", ".dedup().count()", ".out().count()",
                 ".order().by('k').by(id).values('k')", ".values('k').sum()",
                 ".dedup().values('k')", ".out('r').dedup()", ".group().by('k').by(count())",
                 ".fold().count(local)", ".limit(100).count()"});
  }

  Rng& random_;
  int names_ = 0;
};

struct Answer {
  std::string plan;
  std::multiset<std::string> rows;
};

Answer AnswerOf(const std::string& text, const std::shared_ptr<storage::MemoryGraph>& graph,
                const planner::PlanContext& context, uint64_t seed) {
  Answer answer;
  const auto query = parser::Parse(text);
  EXPECT_TRUE(query.ok()) << text << ": " << query.status();
  if (!query.ok()) return answer;
  const auto planned = planner::PlanQuery(*query, context);
  EXPECT_TRUE(planned.ok()) << text << ": " << planned.status();
  if (!planned.ok()) return answer;
  answer.plan = planned->plan.SerializeAsString();
  engine::SimulationOptions options;
  options.seed = seed;
  options.num_workers = static_cast<uint32_t>(1 + seed % 3);
  const engine::SimulationResult result = engine::Simulate(planned->plan, graph, options);
  EXPECT_TRUE(result.status.ok()) << text << ": " << result.status;
  for (const Value& row : result.rows) {
    // Entries of a map come in any order.
    if (row.kind() != ValueKind::kMap) {
      answer.rows.insert(EncodeValue(row));
      continue;
    }
    for (const auto& [key, value] : row.AsMap()) {
      answer.rows.insert(EncodeValue(key) + "=" + EncodeValue(value));
    }
  }
  return answer;
}

TEST(ChoicesTest, StatisticsChangePlansAndNoAnswers) {
  uint64_t others = 0, found = 0;
  for (uint64_t seed = 1; seed <= kGraphs; ++seed) {
    Rng random(seed);
    const auto graph = GraphOfChoices(&random);
    Traversals traversals(&random);
    for (uint64_t i = 0; i < kTraversals; ++i) {
      const std::string text = traversals.Next();
      const Schema counts = MadeUpCounts(graph->schema(), random.Next());
      const GraphStatistics statistics = MadeUpStatistics(counts, random.Next());
      const Answer plain = AnswerOf(text, graph, {&graph->schema(), nullptr, {}}, i);
      const Answer chosen = AnswerOf(text, graph, {&counts, &statistics, {}}, i);
      EXPECT_TRUE(plain.rows == chosen.rows)
          << "seed " << seed << ", " << text << ": " << plain.rows.size() << " rows, with "
          << "statistics " << chosen.rows.size();
      others += plain.plan != chosen.plan ? 1 : 0;
      found += plain.rows.size() > 1 || chosen.rows.size() > 1 ? 1 : 0;
    }
  }
  // Else nothing was compared.
  EXPECT_GT(others, kGraphs * kTraversals / 5);
  EXPECT_GT(found, kGraphs * kTraversals / 10);
}

}  // namespace
}  // namespace koios::golden
