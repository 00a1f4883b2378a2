// The golden files have a case with rows for every step of the catalogue that is there, on a small
// graph and on the generated one; and one somewhere for every step that takes by() or a Scope.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "parser/parser.h"
#include "planner/steps/catalogue.h"
#include "tests/golden/simulated/golden_file.h"

namespace koios::golden {
namespace {

using Names = std::set<std::string, std::less<>>;

struct Covered {
  Names steps, with_by, with_scope;
};

void Note(const parser::Traversal& traversal, Covered* covered);

void Note(const parser::Argument& argument, Covered* covered) {
  if (argument.traversal != nullptr) Note(*argument.traversal, covered);
  for (const parser::Argument& item : argument.items) Note(item, covered);
}

void Note(const parser::Traversal& traversal, Covered* covered) {
  std::string modulated;  // the step that a by() belongs to
  for (const parser::Call& call : traversal.calls) {
    covered->steps.insert(call.name);
    if (call.name == "by") {
      covered->with_by.insert(modulated);
    } else if (call.name != "from" && call.name != "to" && call.name != "with") {
      modulated = call.name;
    }
    for (const parser::Argument& argument : call.arguments) {
      const bool scope =
          argument.kind == parser::Argument::Kind::kEnum && argument.qualifier == "Scope";
      if (scope) covered->with_scope.insert(call.name);
      Note(argument, covered);
    }
  }
}

Covered CoveredBy(const std::vector<std::string>& folders) {
  Covered covered;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::directory_iterator("tests/golden/" + folder)) {
      if (entry.path().extension() != ".test") continue;
      const StatusOr<File> file = ReadFile(entry.path().string());
      EXPECT_TRUE(file.ok()) << file.status();
      if (!file.ok()) continue;
      for (const Case& golden : file->cases) {
        if (golden.WantsError() || golden.WantsPlan()) continue;
        for (const std::string& statement : golden.statements) {
          const StatusOr<parser::Query> query = parser::Parse(statement);
          EXPECT_TRUE(query.ok()) << statement << ": " << query.status();
          if (query.ok()) Note(query->root, &covered);
        }
      }
    }
  }
  return covered;
}

void ExpectSteps(const std::vector<std::string>& folders) {
  const Covered covered = CoveredBy(folders);
  for (const planner::StepSpec& step : planner::StepCatalogue()) {
    if (!step.IsThere()) continue;
    EXPECT_TRUE(covered.steps.contains(step.name))
        << "no case with rows for " << step.name << "() in tests/golden/" << folders[0];
  }
}

TEST(GoldenCoverageTest, EveryStepOnASmallGraph) { ExpectSteps({"modern", "writes"}); }

TEST(GoldenCoverageTest, EveryStepOnTheGeneratedGraph) { ExpectSteps({"money"}); }

TEST(GoldenCoverageTest, EveryByAndEveryScope) {
  const Covered covered = CoveredBy({"modern", "writes", "money"});
  for (const planner::StepSpec& step : planner::StepCatalogue()) {
    if (!step.IsThere()) continue;
    if (step.Has(planner::kTakesBy)) {
      EXPECT_TRUE(covered.with_by.contains(step.name)) << "no case for by() at " << step.name;
    }
    // aggregate(local, 'x') is in the grammar only to be refused.
    if (step.signatures.find("Scope") != std::string_view::npos && step.name != "aggregate") {
      EXPECT_TRUE(covered.with_scope.contains(step.name))
          << "no case for " << step.name << "(local)";
    }
  }
}

TEST(GoldenCoverageTest, EveryExampleOfTheCatalogue) {
  const StatusOr<File> file = ReadFile("tests/golden/money/examples.test");
  ASSERT_TRUE(file.ok()) << file.status();
  Names statements;
  for (const Case& golden : file->cases) statements.insert(golden.statements.back());
  for (const planner::StepSpec& step : planner::StepCatalogue()) {
    if (!step.IsThere()) continue;
    EXPECT_TRUE(statements.contains(step.example)) << step.name << ": " << step.example;
  }
}

}  // namespace
}  // namespace koios::golden
