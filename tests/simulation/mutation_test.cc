// Whether the simulation would see a broken protocol: the network does one thing wrong, and within
// few seeds an answer differs, a query hangs or fails, or something is left behind.
#include "gtest/gtest.h"
#include "tests/simulation/check.h"

namespace koios::simulation {
namespace {

using engine::NetworkFault;

constexpr uint64_t kSeeds = 60;

// In how many of the seeds it is seen. Not in all: some have one worker, some end before it counts.
int SeenIn(NetworkFault fault) {
  int seen = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    if (!CheckSeed(seed, /*verbose=*/false, fault).empty()) ++seen;
  }
  return seen;
}

TEST(MutationTest, WithoutAFaultNothingIsSeen) { EXPECT_EQ(SeenIn(NetworkFault::kNone), 0); }

TEST(MutationTest, LostWeightIsSeen) { EXPECT_GE(SeenIn(NetworkFault::kDropReport), 10); }

TEST(MutationTest, WeightThatComesTwiceIsSeen) {
  EXPECT_GE(SeenIn(NetworkFault::kDoubleReport), 10);
}

TEST(MutationTest, ForgottenBarriersAreSeen) {
  EXPECT_GE(SeenIn(NetworkFault::kForgetBarriers), 1);
}

TEST(MutationTest, LostRowsAreSeen) { EXPECT_GE(SeenIn(NetworkFault::kDropData), 10); }

TEST(MutationTest, LostAcknowledgementsAreSeen) { EXPECT_GE(SeenIn(NetworkFault::kDropAck), 1); }

}  // namespace
}  // namespace koios::simulation
