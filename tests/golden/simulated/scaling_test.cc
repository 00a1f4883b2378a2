// Work and memory on 1 to 16 simulated workers that share nothing: what a worker does falls as
// their number grows, and what it keeps does not grow. KOIOS_PRINT=1 prints the table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/random.h"
#include "engine/sim/simulation.h"
#include "parser/parser.h"
#include "planner/planner.h"
#include "storage/memory_graph.h"
#include "storage/transaction/transaction.h"

namespace koios::golden {
namespace {

constexpr uint32_t kEvenPartitions = 64;
constexpr uint32_t kEvenVertices = 4096;
constexpr uint32_t kEdgesOfEach = 4;
constexpr uint32_t kWorkers[] = {1, 2, 4, 8, 16};

struct Scaled {
  const char* name;
  const char* query;
  bool ends_at_home;  // its rows, or one value of them all, come together there
  bool changes = false;
};

constexpr Scaled kScaled[] = {
    {"group", "g.V().out().groupCount().by('n').unfold().count()", false},
    {"one group, added up", "g.V().out().group().by(label).by(values('n').sum())", false},
    {"dedup", "g.V().out().values('name').dedup().count()", false},
    {"order", "g.V().out().order().by('name').by(id)", true},
    {"aggregate", "g.V().hasNot('even').aggregate('x').out().where(within('x')).count()", false},
    {"aggregate, cap", "g.V().out().aggregate('x').by('name').cap('x').count(local)", true},
    {"groups by name", "g.V().out().groupCount('m').by('name').count()", false},
    {"visited", "g.V().out().where(without('x')).local(aggregate('x')).count()", false},
    {"property", "g.V().property('n', 1).count()", false, true},
    {"add edges", "g.V().as('a').out().addE('f').from('a').count()", false, true},
    {"drop", "g.V().hasNot('even').drop()", false, true},
};

std::shared_ptr<const storage::MemoryGraph> MakeEvenGraph() {
  auto graph = std::make_shared<storage::MemoryGraph>(kEvenPartitions);
  Rng rng(7);
  std::vector<VertexRef> vertices;
  for (uint32_t i = 0; i < kEvenVertices; ++i) {
    storage::PropertyList properties = {
        {"n", Value::Int(static_cast<int32_t>(rng.Uniform(1000)))},
        {"name", Value::String("vertex " + std::to_string(rng.Uniform(kEvenVertices)))}};
    if (i % 2 == 0) properties.emplace_back("even", Value::Bool(true));
    const auto vertex = graph->AddVertex(Value::Long(i), "v", properties);
    CHECK(vertex.ok());
    vertices.push_back(*vertex);
  }
  for (const VertexRef from : vertices) {
    for (uint32_t i = 0; i < kEdgesOfEach; ++i) {
      CHECK(graph->AddEdge(from, vertices[rng.Uniform(kEvenVertices)], "e").ok());
    }
  }
  return graph;
}

// Of one worker, over all operators.
struct Work {
  uint64_t rows = 0;        // that came to operators
  uint64_t kept_bytes = 0;  // the most that operators kept, added up
  uint64_t peak_bytes = 0;  // of all that it was charged for, as its account has it
};

struct Figures {
  Work home;
  Work other;  // the most that one had
  uint64_t wire_rows = 0;
  uint64_t wire_bytes = 0;  // encoded frames, of all kinds
  std::vector<Value> rows;
};

Work WorkOf(const std::vector<engine::OperatorStats>& operators) {
  Work work;
  for (const engine::OperatorStats& stats : operators) {
    work.rows += stats.rows_in;
    work.kept_bytes += stats.peak_bytes;
  }
  return work;
}

Figures Measure(const Scaled& question, const std::shared_ptr<const storage::MemoryGraph>& graph,
                uint32_t workers) {
  Figures figures;
  const auto query = parser::Parse(question.query);
  CHECK(query.ok());
  planner::PlanContext context;
  context.schema = &graph->schema();
  context.isolated = true;
  const auto planned = planner::PlanQuery(*query, context);
  EXPECT_TRUE(planned.ok()) << planned.status();
  if (!planned.ok()) return figures;
  engine::SimulationOptions options;
  options.num_workers = workers;
  options.isolated = true;
  options.profile = true;
  std::shared_ptr<const storage::GraphView> view = graph;
  if (planned->changes_graph) {
    options.transaction = std::make_shared<storage::Transaction>(view, graph->NewNumbers());
    view = options.transaction;
  }
  engine::SimulationResult result = engine::Simulate(planned->plan, view, options);
  EXPECT_TRUE(result.status.ok()) << question.query << ": " << result.status;
  figures.rows = std::move(result.rows);
  figures.wire_rows = result.wire_rows;
  figures.wire_bytes = result.wire_bytes;
  for (size_t worker = 0; worker < result.workers.size(); ++worker) {
    Work work = WorkOf(result.workers[worker]);
    work.peak_bytes = result.peaks[worker];
    if (worker == result.coordinator) {
      figures.home = work;
      continue;
    }
    figures.other.rows = std::max(figures.other.rows, work.rows);
    figures.other.kept_bytes = std::max(figures.other.kept_bytes, work.kept_bytes);
    figures.other.peak_bytes = std::max(figures.other.peak_bytes, work.peak_bytes);
  }
  return figures;
}

void Print(const Scaled& question, uint32_t workers, const Figures& figures) {
  if (std::getenv("KOIOS_PRINT") == nullptr) return;
  const auto kilobytes = [](uint64_t bytes) { return static_cast<unsigned long>(bytes / 1024); };
  std::printf("| %s | %u | %lu | %lu | %lu | %lu | %lu | %lu | %lu | %.1f |\n", question.name,
              workers, figures.home.rows, figures.other.rows, kilobytes(figures.home.kept_bytes),
              kilobytes(figures.other.kept_bytes), kilobytes(figures.home.peak_bytes),
              kilobytes(figures.other.peak_bytes), figures.wire_rows,
              static_cast<double>(figures.wire_bytes) /
                  static_cast<double>(std::max<uint64_t>(figures.wire_rows, 1)));
}

// A worker's share of what one does alone, as values fall unevenly, and something for each
// operator.
uint64_t RowShare(uint64_t alone, uint32_t workers) { return alone / workers * 3 / 2 + 500; }
// Tables double as they grow, and an edge is known at two places; one that is dropped also waits on
// its way there.
uint64_t ByteShare(uint64_t alone, uint32_t workers, bool changes) {
  return alone / workers * (changes ? 4 : 3) + (uint64_t{64} << 10);
}

TEST(ScalingTest, WorkOfAWorkerFallsAndWhatItKeepsDoesNotGrow) {
  const auto graph = MakeEvenGraph();
  for (const Scaled& question : kScaled) {
    Figures alone;
    for (const uint32_t workers : kWorkers) {
      const Figures figures = Measure(question, graph, workers);
      Print(question, workers, figures);
      if (workers == 1) {
        alone = figures;
        EXPECT_GT(alone.home.rows, 2000u) << question.name;
        continue;
      }
      EXPECT_EQ(figures.rows.size(), alone.rows.size()) << question.name;
      const std::string where = std::string(question.name) + " on " + std::to_string(workers);
      const uint64_t rows = RowShare(alone.home.rows, workers);
      const uint64_t bytes = ByteShare(alone.home.kept_bytes, workers, question.changes);
      EXPECT_LE(figures.other.rows, rows) << where;
      EXPECT_LE(figures.other.kept_bytes, bytes) << where;
      EXPECT_LE(figures.other.peak_bytes, bytes) << where;
      // A commit is one record, which home makes of all parts. While it takes them one by one, the
      // last is there twice; it does not grow with the number of workers.
      const uint64_t whole = alone.home.peak_bytes * (question.changes ? 2 : 1);
      EXPECT_LE(figures.home.peak_bytes, whole + (uint64_t{128} << 10)) << where;
      if (question.ends_at_home) continue;
      EXPECT_LE(figures.home.rows, rows) << where;
      EXPECT_LE(figures.home.kept_bytes, bytes) << where;
      EXPECT_LE(question.changes ? 0 : figures.home.peak_bytes, bytes) << where;
    }
  }
}

}  // namespace
}  // namespace koios::golden
