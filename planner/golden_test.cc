// Goldens: testdata/*.test hold queries with their physical plan or error; testdata/rules/NAME.test
// hold queries with the logical traversal before and after that rule. A case is the query, "----",
// and what is expected up to a blank line. Traversals of `big` are planned with the statistics of
// testing/big_graph.h, others without any. UPDATE_GOLDEN=1 rewrites the files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "parser/parser.h"
#include "planner/explain.h"
#include "planner/planner.h"
#include "planner/rules/rules.h"
#include "planner/steps/builder.h"
#include "planner/testing/big_graph.h"

namespace koios::planner {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string comment;  // lines before the query, with their line ends
  std::string query;
  std::string expected;
};

std::vector<Case> ReadCases(const fs::path& path) {
  std::ifstream in(path);
  std::vector<Case> cases;
  Case next;
  bool expecting = false;
  std::string line;
  while (std::getline(in, line)) {
    if (expecting && !line.empty()) {
      next.expected += line + "\n";
    } else if (line == "----") {
      expecting = true;
    } else if (line.empty() || line[0] == '#') {
      if (expecting) {
        cases.push_back(std::move(next));
        next = Case();
        expecting = false;
      }
      if (!line.empty()) next.comment += line + "\n";
    } else {
      next.query += (next.query.empty() ? "" : "\n") + line;
    }
  }
  if (!next.query.empty()) cases.push_back(std::move(next));
  return cases;
}

std::string ErrorText(const Status& status) {
  const ErrorDetail detail = DetailOf(status).value_or(ErrorDetail());
  return "error " + std::string(absl::StatusCodeToString(status.code())) + " " +
         std::to_string(detail.span.line) + ":" + std::to_string(detail.span.column) + " " +
         MessageOf(status) + "\n";
}

// Adds the index of these keys; with `distinct` different entries.
void AddIndex(const std::string& label, const std::vector<std::string>& keys, bool ready,
              uint64_t distinct, Schema* schema) {
  VertexIndex index{schema->labels.Intern(label), {}, ready, distinct};
  for (const std::string& key : keys) {
    index.keys.push_back(schema->keys.Intern(key));
    schema->property_kinds.Set(index.label, index.keys.back(), ValueKind::kNull);
  }
  schema->vertex_counts[index.label] = 1000;
  schema->vertex_indexes[static_cast<IndexId>(schema->vertex_indexes.size() + 1)] = index;
}

// Places have an index of their id, Persons several; one of theirs is being built.
const Schema& IndexedSchema() {
  static const Schema kSchema = [] {
    Schema schema;
    AddIndex("Place", {"id"}, true, 0, &schema);
    AddIndex("Person", {"city", "age"}, true, 900, &schema);
    AddIndex("Person", {"gender"}, true, 2, &schema);
    AddIndex("Person", {"email"}, true, 1000, &schema);
    AddIndex("Person", {"shoe"}, false, 0, &schema);
    AddIndex("Town", {"id"}, true, 0, &schema);
    schema.vertex_counts[schema.labels.Intern("Other")] = 5;
    return schema;
  }();
  return kSchema;
}

PlanContext ContextOf(const parser::Query& query) {
  if (query.root.source == "big") return {&testing::BigSchema(), &testing::BigStatistics(), {}};
  if (query.root.source == "shared") {
    PlanContext shared{&testing::BigSchema(), &testing::BigStatistics(), {}};
    shared.num_workers = 2;
    return shared;
  }
  PlanContext context{&IndexedSchema(), nullptr, {}};
  context.isolated = query.root.source == "isolated";
  return context;
}

std::string PlanText(const std::string& text) {
  StatusOr<parser::Query> query = parser::Parse(text);
  if (!query.ok()) return ErrorText(query.status());
  StatusOr<PlannedQuery> planned = PlanQuery(*query, ContextOf(*query));
  return planned.ok() ? PhysicalText(planned->plan) : ErrorText(planned.status());
}

// The traversal as the rules before `name` leave it, and then what `name` makes of it.
std::string RuleText(const std::string& text, const std::string& name) {
  StatusOr<parser::Query> query = parser::Parse(text);
  if (!query.ok()) return ErrorText(query.status());
  const Parameters parameters{};
  QueryState state;
  state.parameters = &parameters;
  state.graph = GraphLook(ContextOf(*query).schema, ContextOf(*query).statistics);
  Builder builder(&state, TypeEnv{});
  const Status built = builder.AppendRoot(query->root);
  if (!built.ok()) return ErrorText(built);
  Chain chain = builder.Take();
  for (const Rule& rule : Rules()) {
    if (rule.name != name) {
      rule.apply(&chain);
      continue;
    }
    const std::string before = ChainText(chain, 2);
    const bool fired = rule.apply(&chain);
    const std::string after = ChainText(chain, 2);
    EXPECT_EQ(fired, before != after) << text;
    return "before\n" + before + (fired ? "after\n" + after : "does not fire\n");
  }
  return "there is no rule " + name + "\n";
}

template <typename Run>
void CheckFile(const fs::path& path, const Run& run) {
  const std::vector<Case> cases = ReadCases(path);
  EXPECT_FALSE(cases.empty()) << path;
  std::string rewritten;
  for (const Case& one : cases) {
    const std::string actual = run(one.query);
    rewritten += one.comment + one.query + "\n----\n" + actual + "\n";
    if (std::getenv("UPDATE_GOLDEN") == nullptr) {
      EXPECT_EQ(actual, one.expected) << path << ": " << one.query;
    }
  }
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path) << rewritten;
}

std::vector<fs::path> FilesIn(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".test") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(GoldenTest, Plans) {
  for (const fs::path& path : FilesIn("planner/testdata")) CheckFile(path, PlanText);
}

TEST(GoldenTest, Rules) {
  std::set<std::string> tested;
  for (const fs::path& path : FilesIn("planner/testdata/rules")) {
    const std::string name = path.stem().string();
    tested.insert(name);
    CheckFile(path, [&name](const std::string& query) { return RuleText(query, name); });
  }
  for (const Rule& rule : Rules()) {
    EXPECT_TRUE(tested.contains(std::string(rule.name))) << rule.name << " has no golden";
  }
}

}  // namespace
}  // namespace koios::planner
