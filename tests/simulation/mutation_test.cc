// Whether the simulation would see a broken protocol: the network does one thing wrong, and within
// few seeds an answer differs, a query hangs or fails, or something is left behind.
#include "gtest/gtest.h"
#include "tests/simulation/check.h"
#include "tests/simulation/step_tree.h"

namespace koios::simulation {
namespace {

using engine::NetworkFault;

constexpr uint64_t kSeeds = 100;

// In how many of the seeds it is seen, up to so many. Not in all: some have one worker, some end
// before it counts.
int SeenIn(NetworkFault fault, int enough) {
  int seen = 0;
  for (uint64_t seed = 1; seed <= kSeeds && seen < enough; ++seed) {
    if (!CheckSeed(seed, /*verbose=*/false, fault).empty()) ++seen;
  }
  return seen;
}

TEST(MutationTest, WithoutAFaultNothingIsSeen) { EXPECT_EQ(SeenIn(NetworkFault::kNone, 1), 0); }

TEST(MutationTest, LostWeightIsSeen) { EXPECT_EQ(SeenIn(NetworkFault::kDropReport, 10), 10); }

TEST(MutationTest, WeightThatComesTwiceIsSeen) {
  EXPECT_EQ(SeenIn(NetworkFault::kDoubleReport, 10), 10);
}

// V().union(has('n', gt(100)).count(), count()): the first branch gives 0 because whoever entered
// it said so. The home knows by itself where it enters the branch, too: so a graph of few vertices.
TEST(MutationTest, ForgottenBarriersAreSeen) {
  const RandomQuery query{{{Step::Kind::kUnion,
                            0,
                            {{{Step::Kind::kHasOver, 100, {}}, {Step::Kind::kCount, 0, {}}},
                             {{Step::Kind::kCount, 0, {}}}}}},
                          std::nullopt};
  const auto graph = std::make_shared<storage::MemoryGraph>();
  ASSERT_TRUE(graph->AddVertex(std::nullopt, "v", {{"n", Value::Int(1)}}).ok());
  for (const NetworkFault fault : {NetworkFault::kNone, NetworkFault::kForgetBarriers}) {
    int seen = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      engine::SimulationOptions options;
      options.seed = seed;
      options.fault = fault;
      const engine::SimulationResult result = engine::Simulate(ToPlan(query), graph, options);
      if (!result.status.ok() || result.rows.size() != 2) ++seen;
    }
    if (fault == NetworkFault::kNone) {
      EXPECT_EQ(seen, 0);
    } else {
      EXPECT_GE(seen, 10);
    }
  }
}

TEST(MutationTest, LostRowsAreSeen) { EXPECT_EQ(SeenIn(NetworkFault::kDropData, 10), 10); }

// What else goes wrong, or stands still by right, does not hide it.
TEST(MutationTest, FaultsAreSeenBesideAllOthers) {
  for (const NetworkFault fault : {NetworkFault::kDropReport, NetworkFault::kDoubleReport,
                                   NetworkFault::kDropData, NetworkFault::kDropAck}) {
    int seen = 0;
    // In many a full disk comes first.
    for (uint64_t seed = 1; seed <= 2 * kSeeds && seen < 10; ++seed) {
      Case drawn = MakeHardCase(seed);
      drawn.options.fault = fault;
      drawn.options.fault_at = 1 + seed % 4;
      if (!Check(drawn).empty()) ++seen;
    }
    EXPECT_EQ(seen, 10) << static_cast<int>(fault);
  }
}

TEST(MutationTest, LostAcknowledgementsAreSeen) { EXPECT_EQ(SeenIn(NetworkFault::kDropAck, 5), 5); }

}  // namespace
}  // namespace koios::simulation
