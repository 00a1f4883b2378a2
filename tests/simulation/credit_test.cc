// What is on its way to a worker is bounded whatever the number of workers, exchanges and
// iterations.
#include <algorithm>
#include <cstdio>

#include "core/testing/rounds.h"
#include "engine/sim/simulation.h"
#include "gtest/gtest.h"
#include "tests/simulation/step_tree.h"

namespace koios::simulation {
namespace {

using Kind = Step::Kind;

Step Only(Kind kind, int64_t number = 0) { return {kind, number, {}}; }

// 200 vertices with 6 edges each, so that rows explode.
std::shared_ptr<const storage::MemoryGraph> DenseGraph(uint32_t count = 200) {
  GraphData data;
  data.partitions = 64;
  Rng rng(7);
  for (uint32_t i = 0; i < count; ++i) data.vertices.emplace_back(i % 10);
  for (uint32_t i = 0; i < 6 * count; ++i) {
    data.edges.push_back({i % count, static_cast<uint32_t>(rng.Uniform(count))});
  }
  return BuildGraph(data);
}

struct Exploding {
  const char* name;
  RandomQuery query;
  size_t depths;  // exchanges that rows cross, times iterations
};

std::vector<Exploding> AllExploding() {
  const Step out = Only(Kind::kOut);
  const Step pairs{Kind::kUnion, 0, {{out, out}, {Only(Kind::kIn), Only(Kind::kIn)}, {out}}};
  const Step loop{Kind::kRepeatEmit, 4, {{out}}};
  std::vector<Exploding> all = {
      {"out().out().out().count()", {{out, out, out, Only(Kind::kCount)}, std::nullopt}, 6},
      {"repeat(out()).emit().times(4)", {{loop, Only(Kind::kCount)}, std::nullopt}, 7},
      {"union(..).union(..).count()", {{pairs, pairs, Only(Kind::kCount)}, std::nullopt}, 13},
      {"out().out().out().path()", {{out, out, out}, std::nullopt, true}, 6}};
  all.erase(all.begin() + TestRounds(4, 2), all.end());
  return all;
}

engine::SimulationResult RunOn(const Exploding& of, uint32_t workers, size_t credit_bytes) {
  engine::SimulationOptions options;
  options.num_workers = workers;
  options.bounds.credit_bytes = credit_bytes;
  options.isolated = true;
  options.deliver_percent = 60;
  options.profile = true;
  return engine::Simulate(ToPlan(of.query, true), DenseGraph(), options);
}

// Of each depth one frame, and of vertices that a frame of several rows is cut to. What a vector
// has room for and what a batch is by itself comes on top.
constexpr size_t kMostFrameBytes = 4096;

TEST(CreditTest, PeakInFlightDoesNotGrowWithTheWorkers) {
  for (const Exploding& one : AllExploding()) {
    std::string figures;
    for (uint32_t workers = 1; workers <= 16; workers *= TestRounds(2, 4)) {
      constexpr size_t kCredit = 16 << 10;
      const engine::SimulationResult result = RunOn(one, workers, kCredit);
      ASSERT_TRUE(result.status.ok()) << one.name << ": " << result.status;
      EXPECT_LE(result.peak_in_flight, kCredit + one.depths * kMostFrameBytes)
          << one.name << " on " << workers;
      EXPECT_TRUE(workers == 1 || result.peak_in_flight > kCredit / 4) << one.name;
      figures += " " + std::to_string(result.peak_in_flight);
    }
    std::printf("%s, peak bytes on 1 to 16 workers:%s\n", one.name, figures.c_str());
  }
}

// What a query without kept rows has at a worker follows its plan and its depth, not its rows.
TEST(CreditTest, PeakDoesNotGrowWithTheRows) {
  for (const Exploding& one : AllExploding()) {
    std::vector<uint64_t> peaks;
    std::vector<int64_t> rows;
    for (const uint32_t vertices : {50u, uint32_t{TestRounds(400, 200)}}) {
      engine::SimulationOptions options;
      options.isolated = true;
      options.deliver_percent = 60;
      options.bounds.batch_rows = 64;
      options.bounds.credit_bytes = 16 << 10;
      const engine::SimulationResult result =
          engine::Simulate(ToPlan(one.query, true), DenseGraph(vertices), options);
      ASSERT_TRUE(result.status.ok()) << one.name << ": " << result.status;
      peaks.push_back(*std::max_element(result.peaks.begin(), result.peaks.end()));
      rows.push_back(one.query.paths ? static_cast<int64_t>(result.rows.size())
                                     : result.rows.at(0).AsInteger());
    }
    std::printf("%s, peak bytes of a worker: %lu of %ld rows, %lu of %ld\n", one.name, peaks[0],
                rows[0], peaks[1], rows[1]);
    EXPECT_GE(rows[1], int64_t{TestRounds(7, 3)} * rows[0]) << one.name;
    EXPECT_LE(peaks[1], 2 * peaks[0]) << one.name;
  }
}

// Who never waits has no such time; who does has some, and no more than each worker was there.
TEST(CreditTest, WaitsAreTimed) {
  const Exploding one = AllExploding()[0];
  for (const size_t credit : {size_t{1} << 30, size_t{1} << 10}) {
    const engine::SimulationResult result = RunOn(one, /*workers=*/4, credit);
    ASSERT_TRUE(result.status.ok()) << result.status;
    uint64_t waits = 0, waited = 0;
    for (const engine::OperatorStats& stats : result.operators) {
      waits += stats.credit_waits;
      waited += stats.credit_wait_ns;
      EXPECT_EQ(stats.credit_waits > 0, stats.credit_wait_ns > 0);
      EXPECT_LE(stats.credit_wait_ns, 4 * result.turns * engine::SimulationOptions().turn_ns);
    }
    EXPECT_EQ(waits > 0, credit < (size_t{1} << 20));
    EXPECT_EQ(waited > 0, credit < (size_t{1} << 20));
  }
}

// Nothing leaves without asking, and there are fewer slots than iterations. Without overdrafts all
// wait for a slot that frames of an earlier iteration have.
TEST(CreditTest, OneSlotIsEnough) {
  const RandomQuery query{{{Kind::kRepeatEmit, 9, {{Only(Kind::kBoth)}}}}, std::nullopt};
  GraphData data;
  data.partitions = 8;
  data.vertices.resize(6);
  for (uint32_t i = 0; i < 6; ++i) data.edges.push_back({i, (i + 1) % 6});
  const auto graph = BuildGraph(data);
  const auto expected = Evaluate(query, *graph);
  ASSERT_TRUE(expected.has_value());
  for (uint64_t seed = 1; seed <= TestRounds(60, 6); ++seed) {
    engine::SimulationOptions options;
    options.seed = seed;
    options.num_workers = static_cast<uint32_t>(2 + seed % 7);
    options.bounds = {.batch_rows = 1 + seed % 3,
                      .queue_batches = 1,
                      .credit_bytes = 1,
                      .depth_slots = 1 + seed % 2};
    options.deliver_percent = static_cast<uint32_t>(5 + seed * 37 % 90);
    const engine::SimulationResult result = engine::Simulate(ToPlan(query), graph, options);
    ASSERT_TRUE(result.status.ok()) << result.status << ", seed " << seed;
    ASSERT_EQ(result.rows.size(), expected->rows.size()) << seed;
  }
}

}  // namespace
}  // namespace koios::simulation
