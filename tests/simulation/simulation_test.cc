// Thousands of seeds of random plans under random schedules. KOIOS_SIM_SEEDS sets how many,
// KOIOS_SIM_FIRST the first; KOIOS_SIM_HARD_SEEDS how many with all faults at once.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "core/testing/rounds.h"
#include "gtest/gtest.h"
#include "tests/simulation/saved_case.h"

namespace koios::simulation {
namespace {

constexpr uint64_t kDefaultSeeds = TestRounds(2000, 400);
constexpr uint64_t kDefaultHardSeeds = TestRounds(4000, 400);

uint64_t NumberOf(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(SimulationTest, RandomPlansAnswerAsTheEvaluator) {
  const uint64_t first = NumberOf("KOIOS_SIM_FIRST", 1);
  const uint64_t end = first + NumberOf("KOIOS_SIM_SEEDS", kDefaultSeeds);
  int failures = 0;
  for (uint64_t seed = first; seed < end && failures < 5; ++seed) {
    const std::string problem = CheckSeed(seed);
    if (problem.empty()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << problem;
  }
}

// All faults at once: a query gives its answer, or ends as it may, and leaves nothing. Shares of
// the ends are asked for, so that the faults go on to matter.
TEST(SimulationTest, AllFaultsAtOnce) {
  const uint64_t first = NumberOf("KOIOS_SIM_FIRST", 1);
  const uint64_t seeds = NumberOf("KOIOS_SIM_HARD_SEEDS", kDefaultHardSeeds);
  int failures = 0;
  std::map<StatusCode, uint64_t> ends;
  for (uint64_t seed = first; seed < first + seeds && failures < 5; ++seed) {
    const Checked checked = CheckCase(MakeHardCase(seed));
    if (checked.turns > 0) ++ends[checked.ended];
    if (checked.problem.empty()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << checked.problem
                  << "\n  again:     koios_sim --hard --seed " << seed;
  }
  if (failures > 0) return;
  EXPECT_GE(ends[StatusCode::kOk], seeds / 2);
  EXPECT_GE(ends[StatusCode::kResourceExhausted], seeds / 10);
  EXPECT_GE(ends[StatusCode::kCancelled], seeds / 100);
  EXPECT_GE(ends[StatusCode::kDeadlineExceeded], seeds / 250);
}

// Cases that once failed, or fail when a rule of the engine is broken: on their schedule, and on
// others, as a change of the engine moves what meets what.
TEST(SimulationTest, CasesThatOnceFailed) {
  constexpr uint64_t kSchedules = 30;
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/simulation/plans")) {
    if (entry.path().extension() != ".txt") continue;
    ++cases;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_TRUE(text.str().starts_with("# ")) << entry.path() << " does not say what it guards";
    StatusOr<Case> saved = ReadCase(text.str());
    ASSERT_TRUE(saved.ok()) << entry.path() << ": " << saved.status();
    EXPECT_EQ(Check(*saved), "") << entry.path();
    saved->options.cancel_after_turns = 0;
    for (uint64_t seed = 1; seed <= kSchedules; ++seed) {
      saved->options.seed = seed;
      EXPECT_EQ(Check(*saved), "") << entry.path() << ", schedule " << seed;
    }
  }
  EXPECT_GE(cases, 14);
}

TEST(SimulationTest, ASavedCaseIsTheSameAgain) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const std::string text = SaveCase(seed % 2 == 0 ? MakeCase(seed / 2) : MakeHardCase(seed));
    const StatusOr<Case> read = ReadCase(text);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(SaveCase(*read), text);
  }
  EXPECT_FALSE(ReadCase("text: \"g.V().\" graph { edges { from: 1 } }").ok());
  EXPECT_FALSE(ReadCase("no case").ok());
  EXPECT_FALSE(ReadCase("text: \"g.V().out()\"").ok());
}

}  // namespace
}  // namespace koios::simulation
