// A plan that is kept is the plan that planning again would make: for all queries of the goldens,
// with their constants as parameters, whose values are drawn; with other schemas and statistics.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "core/random.h"
#include "core/testing/rounds.h"
#include "core/value_codec.h"
#include "parser/parser.h"
#include "planner/planner.h"
#include "planner/testing/big_graph.h"

namespace koios::planner {
namespace {

namespace fs = std::filesystem;
using Values = std::map<std::string, Value>;

void AddQueries(const std::string& folder, std::vector<std::string>* queries) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".test") continue;
    std::ifstream in(entry.path());
    std::string line, query;
    bool expecting = false;
    while (std::getline(in, line)) {
      if (line == "----") {
        queries->push_back(std::move(query));
        query.clear();
        expecting = true;
      } else if (line.empty() || line[0] == '#') {
        expecting = false;
      } else if (!expecting) {
        query += line + "\n";
      }
    }
  }
}

std::vector<std::string> GoldenQueries() {
  std::vector<std::string> queries;
  AddQueries("planner/testdata", &queries);
  AddQueries("tests/golden", &queries);
  return queries;
}

// Constants become parameters p0, p1, ..., whose values they are.
void Parametrise(parser::Traversal* traversal, Values* values);
void Parametrise(parser::Argument* argument, Values* values) {
  if (argument->kind == parser::Argument::Kind::kLiteral) {
    argument->kind = parser::Argument::Kind::kParameter;
    argument->name = "p" + std::to_string(values->size());
    (*values)[argument->name] = argument->literal;
  }
  for (parser::Argument& item : argument->items) Parametrise(&item, values);
  if (argument->traversal != nullptr) Parametrise(argument->traversal.get(), values);
}
void Parametrise(parser::Traversal* traversal, Values* values) {
  for (parser::Call& call : traversal->calls) {
    for (parser::Argument& argument : call.arguments) Parametrise(&argument, values);
  }
}

// Of the same kind, from few, so that values meet their like and what is special.
Value Another(const Value& value, Rng* rng) {
  static const std::vector<std::string> kTexts = {"", "a", "person", "id", "7", "name"};
  const int64_t number = static_cast<int64_t>(rng->Uniform(4)) - 1;
  switch (value.kind()) {
    case ValueKind::kBool:
      return Value::Bool(number > 0);
    case ValueKind::kByte:
      return Value::Byte(static_cast<int8_t>(number));
    case ValueKind::kShort:
      return Value::Short(static_cast<int16_t>(number));
    case ValueKind::kInt:
      return Value::Int(static_cast<int32_t>(number));
    case ValueKind::kLong:
      return Value::Long(number);
    case ValueKind::kDouble:
      return Value::Double(static_cast<double>(number) / 2);
    case ValueKind::kString:
      return Value::String(kTexts[rng->Uniform(kTexts.size())]);
    case ValueKind::kList: {
      ValueList members = value.AsList();
      if (rng->Uniform(2) == 0 && !members.empty()) members.pop_back();
      for (Value& member : members) member = Another(member, rng);
      return *Value::List(std::move(members));
    }
    default:
      return value;
  }
}

// Whether a plan made with `before` is for `now`, too.
bool SameWhereLookedAt(const PlannedQuery& planned, const Values& before, const Values& now) {
  for (const std::string& name : planned.looked_at) {
    if (EncodeValue(before.at(name)) != EncodeValue(now.at(name))) return false;
  }
  return true;
}

// What a query meets: a schema, and statistics or none.
struct Graph {
  Schema schema = testing::BigSchema();
  std::optional<GraphStatistics> statistics = testing::BigStatistics();

  const GraphStatistics* known() const { return statistics ? &*statistics : nullptr; }
};

void MakeSmall(GraphStatistics* statistics) {
  for (auto* counts : {&statistics->vertices, &statistics->edges}) {
    for (auto& [label, count] : *counts) count /= 1000;
  }
}

// As commits, folds and new or dropped indexes do.
void Change(Graph* graph, Rng* rng) {
  Schema& schema = graph->schema;
  switch (rng->Uniform(7)) {
    case 0:
      schema.vertex_counts[(*schema.vertex_counts.begin()).first] += 1 + rng->Uniform(1'000'000);
      break;
    case 1:
      schema.edge_counts[(*schema.edge_counts.begin()).first] /= 2;
      break;
    case 2:
      if (!schema.vertex_indexes.empty())
        schema.vertex_indexes.erase(schema.vertex_indexes.begin());
      break;
    case 3: {
      VertexIndex index{schema.labels.Intern("Place"), {schema.keys.Intern("id")}, true, 1000};
      if (rng->Uniform(2) == 0) index.keys.push_back(schema.keys.Intern("name"));
      if (!schema.vertex_counts.contains(index.label)) schema.vertex_counts[index.label] = 1000;
      schema.vertex_indexes[schema.vertex_indexes.empty()
                                ? 1
                                : schema.vertex_indexes.rbegin()->first + 1] = index;
      break;
    }
    case 4:
      graph->statistics.reset();
      break;
    case 5:
      graph->statistics = testing::BigStatistics();
      MakeSmall(&*graph->statistics);
      break;
    default:
      graph->statistics = testing::BigStatistics();
      graph->statistics->degrees.begin()->second.edges *= 1 + rng->Uniform(100);
      graph->statistics->vertex_properties.begin()->second.distinct /= 100;
  }
}

class KeptPlanTest : public ::testing::Test {
 protected:
  StatusOr<PlannedQuery> Plan(const parser::Query& query, const Values& values) {
    PlanContext context;
    context.schema = &graph_.schema;
    context.statistics = graph_.known();
    context.parameters = values;
    context.num_workers = 4;
    StatusOr<PlannedQuery> planned = PlanQuery(query, context);
    if (planned.ok() && planned->seen.NeedsFacts()) {
      planned->seen.SetFacts(FactsOf(context.schema, context.statistics));
    }
    return planned;
  }
  PlannedQuery PlanText(const std::string& text, const Values& values = {}) {
    const StatusOr<parser::Query> query = parser::Parse(text);
    CHECK(query.ok());
    StatusOr<PlannedQuery> planned = Plan(*query, values);
    EXPECT_TRUE(planned.ok()) << MessageOf(planned.status());
    return *std::move(planned);
  }
  bool Holds(const PlannedQuery& planned) const {
    return planned.seen.Holds(&graph_.schema, graph_.known());
  }

  Graph graph_;
};

constexpr int kDraws = TestRounds(8, 2);

TEST_F(KeptPlanTest, WithOtherValuesAndAnotherGraphItIsThePlanOfThose) {
  Rng rng(7);
  int kept = 0, filled = 0, elsewhere = 0, ended = 0;
  for (const std::string& text : GoldenQueries()) {
    StatusOr<parser::Query> query = parser::Parse(text);
    if (!query.ok()) continue;
    Values values;
    Parametrise(&query->root, &values);
    for (int draw = 0; draw < kDraws; ++draw) {
      if (draw == kDraws / 2) graph_ = Graph();
      const StatusOr<PlannedQuery> planned = Plan(*query, values);
      Values others = values;
      for (auto& [name, value] : others) {
        if (rng.Uniform(3) != 0) value = Another(value, &rng);
      }
      const bool changes = rng.Uniform(2) == 0;
      if (changes) Change(&graph_, &rng);
      const Values before = std::exchange(values, others);
      if (!planned.ok() || !planned->keeps) continue;
      if (!SameWhereLookedAt(*planned, before, others)) continue;
      if (!Holds(*planned)) {
        ++ended;
        continue;
      }
      StatusOr<PlannedQuery> again = Plan(*query, others);
      ASSERT_TRUE(again.ok()) << text << MessageOf(again.status());
      PutValues(again->holes, others, &again->plan);
      plan::Plan put = planned->plan;
      PutValues(planned->holes, others, &put);
      ASSERT_EQ(put.SerializeAsString(), again->plan.SerializeAsString()) << text;
      EXPECT_EQ(planned->outcome, again->outcome);
      EXPECT_EQ(planned->changes_graph, again->changes_graph);
      EXPECT_EQ(planned->looked_at, again->looked_at) << text;
      ++kept;
      filled += planned->holes.empty() ? 0 : 1;
      elsewhere += changes ? 1 : 0;
    }
  }
  EXPECT_GT(kept, 125 * kDraws);
  EXPECT_GT(filled, 37 * kDraws);
  EXPECT_GT(elsewhere, 37 * kDraws);
  EXPECT_GT(ended, 12 * kDraws);
}

// The text again, as most are asked: each golden query with the constants that are in it.
TEST_F(KeptPlanTest, AskedAgainItIsThePlanThatWasMade) {
  int kept = 0;
  for (const std::string& text : GoldenQueries()) {
    const StatusOr<parser::Query> query = parser::Parse(text);
    if (!query.ok()) continue;
    const StatusOr<PlannedQuery> planned = Plan(*query, {});
    if (!planned.ok() || !planned->keeps) continue;
    const StatusOr<PlannedQuery> again = Plan(*query, {});
    EXPECT_TRUE(Holds(*planned)) << text;
    ASSERT_EQ(planned->plan.SerializeAsString(), again->plan.SerializeAsString()) << text;
    ++kept;
  }
  EXPECT_GT(kept, 500);
}

TEST_F(KeptPlanTest, TheValuesOfLookUpsAreNotLookedAt) {
  const Values values = {{"x", Value::Long(7)}, {"y", Value::String("a")}};
  for (const char* text :
       {"g.V(x).label()", "g.V(x, x).out(\"knows\")", "g.V().has(\"Person\", \"id\", x)",
        "g.V().hasLabel(\"Person\").has(\"name\", y).values(\"age\")",
        "g.V().has(\"Person\", \"id\", x).out(\"knows\").has(\"name\", y).has(\"gender\", y)",
        "g.V(x).out().where(values(\"other\").is(gt(x)))", "g.inject(x).map(constant(y))"}) {
    const PlannedQuery planned = PlanText(text, values);
    EXPECT_TRUE(planned.keeps) << text;
    EXPECT_TRUE(planned.looked_at.empty()) << text;
    EXPECT_FALSE(planned.holes.empty()) << text;
  }
}

TEST_F(KeptPlanTest, ChangesOfASmallGraphAreKeptWhateverIsCommitted) {
  const std::string text = "g.V().hasLabel('Post').property('content', 'y')";
  EXPECT_TRUE(PlanText(text).plan.at_owners());
  EXPECT_TRUE(PlanText(text).seen.NeedsFacts());
  MakeSmall(&*graph_.statistics);
  const PlannedQuery planned = PlanText(text);
  EXPECT_FALSE(planned.plan.at_owners());
  EXPECT_FALSE(planned.seen.NeedsFacts());
  ++graph_.statistics->version;
  graph_.statistics->vertices.begin()->second += 5;
  ++graph_.schema.vertex_counts[graph_.schema.labels.Find("Person")];
  EXPECT_TRUE(Holds(planned));
  graph_.statistics = testing::BigStatistics();
  EXPECT_FALSE(Holds(planned));
}

TEST_F(KeptPlanTest, ValuesThatDecideAreNamed) {
  const Values values = {{"x", Value::Long(7)}, {"y", Value::String("a")}};
  for (const char* text : {"g.V().limit(x)", "g.V().repeat(out()).times(x)", "g.V().hasLabel(y)",
                           "g.V().values(y)", "g.V().out(y)", "g.V().as(y)"}) {
    const PlannedQuery planned = PlanText(text, values);
    EXPECT_EQ(planned.looked_at.size(), 1u) << text;
    EXPECT_TRUE(planned.holes.empty()) << text;
  }
  // How many have it is what the choice between index and scan rests on.
  EXPECT_EQ(PlanText("g.V().has('Post', 'date', gt(x)).count()", values).looked_at.size(), 1u);
}

TEST_F(KeptPlanTest, WhatIsDrawnIsDrawnAgainAndWhatIsExplainedIsPlanned) {
  EXPECT_FALSE(PlanText("g.inject(UUID())").keeps);
  EXPECT_TRUE(PlanText("g.inject(1)").keeps);
  EXPECT_FALSE(PlanText("g.inject(1).explain()").keeps);
  EXPECT_TRUE(PlanText("g.inject(1).profile()").keeps);
}

TEST_F(KeptPlanTest, WhatAsksNothingOfTheGraphIsKeptThroughCommits) {
  const PlannedQuery looks_up = PlanText("g.V(1).out().values('name')");
  graph_.schema.vertex_counts[1] += 5;
  graph_.schema.labels.Intern("another");
  graph_.statistics->version = 7;
  EXPECT_TRUE(Holds(looks_up));
  graph_.statistics.reset();  // whether there are any may be asked anywhere
  EXPECT_FALSE(Holds(looks_up));
}

TEST_F(KeptPlanTest, OfTwoIndexesCountsTell) {
  const PlannedQuery seeks = PlanText("g.addV('new').V().has('Person', 'id', 7)");
  graph_.schema.vertex_counts[1] += 5;
  EXPECT_TRUE(Holds(seeks));  // one index, and a change of the graph goes by no statistics
  const PlannedQuery estimated = PlanText("g.V().has('Person', 'id', 7)");
  EXPECT_TRUE(Holds(estimated));
  graph_.schema.vertex_counts[1] += 5;
  EXPECT_FALSE(Holds(estimated));
  graph_.schema.vertex_indexes.erase(1);
  EXPECT_FALSE(Holds(seeks));
}

TEST_F(KeptPlanTest, EachPartOfSchemaAndStatisticsCounts) {
  const PlannedQuery planned = PlanText("g.V().has('Person', 'id', 7)");
  const std::vector<std::function<void(Graph*)>> changes = {
      [](Graph* graph) { graph->schema.labels.Intern("new"); },
      [](Graph* graph) { graph->schema.keys.Intern("new"); },
      [](Graph* graph) { graph->schema.property_kinds.Set(1, 7, ValueKind::kLong); },
      [](Graph* graph) { graph->schema.vertex_indexes[1].ready = false; },
      [](Graph* graph) { graph->schema.vertex_counts[1] += 1; },
      [](Graph* graph) {
        graph->schema.edge_counts[(*graph->schema.edge_counts.begin()).first] = 0;
      },
      [](Graph* graph) { graph->statistics.reset(); },
      [](Graph* graph) { graph->statistics->version += 1; },
      [](Graph* graph) { graph->statistics->vertices[1] += 1; },
      [](Graph* graph) { graph->statistics->edges.clear(); },
      [](Graph* graph) { graph->statistics->degrees.begin()->second.classes[3] += 1; },
      [](Graph* graph) { graph->statistics->vertex_properties.begin()->second.largest += 1; },
      [](Graph* graph) {
        graph->statistics->edge_properties[{1, 1}].elements = 1;
      },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    graph_ = Graph();
    EXPECT_TRUE(Holds(planned));
    changes[i](&graph_);
    EXPECT_FALSE(Holds(planned)) << i;
  }
}

}  // namespace
}  // namespace koios::planner
