// Thousands of seeds of random plans under random schedules. KOIOS_SIM_SEEDS sets how many,
// KOIOS_SIM_FIRST the first.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"
#include "tests/simulation/saved_case.h"

namespace koios::simulation {
namespace {

// A sanitizer takes several times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kDefaultSeeds = 700;
#else
constexpr uint64_t kDefaultSeeds = 2000;
#endif

TEST(SimulationTest, RandomPlansAnswerAsTheEvaluator) {
  const auto number = [](const char* name, uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
  };
  const uint64_t first = number("KOIOS_SIM_FIRST", 1);
  const uint64_t end = first + number("KOIOS_SIM_SEEDS", kDefaultSeeds);
  int failures = 0;
  for (uint64_t seed = first; seed < end && failures < 5; ++seed) {
    const std::string problem = CheckSeed(seed);
    if (problem.empty()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << problem;
  }
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
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string text = SaveCase(MakeCase(seed));
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
