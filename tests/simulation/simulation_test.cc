// Thousands of seeds of random plans under random schedules. KOIOS_SIM_SEEDS sets how many.
#include <cstdlib>

#include "gtest/gtest.h"
#include "tests/simulation/check.h"

namespace koios::simulation {
namespace {

constexpr uint64_t kDefaultSeeds = 2000;

TEST(SimulationTest, RandomPlansAnswerAsTheEvaluator) {
  const char* text = std::getenv("KOIOS_SIM_SEEDS");
  const uint64_t seeds = text == nullptr ? kDefaultSeeds : std::strtoull(text, nullptr, 10);
  int failures = 0;
  for (uint64_t seed = 1; seed <= seeds && failures < 5; ++seed) {
    const std::string problem = CheckSeed(seed);
    if (problem.empty()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << problem;
  }
}

// Far seeds that once failed, as long as they make the traversals that they made then: a source
// closed between its batches, before an exchange.
TEST(SimulationTest, SeedsThatOnceFailed) {
  for (const uint64_t seed : {93801u}) EXPECT_EQ(CheckSeed(seed), "") << "seed " << seed;
}

}  // namespace
}  // namespace koios::simulation
