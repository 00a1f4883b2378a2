// What is expected of traversals over a graph that is only thought of.
#include "planner/cost/cost_model.h"

#include <gtest/gtest.h>

#include "parser/parser.h"
#include "planner/cost/estimated_text.h"
#include "planner/planner.h"
#include "planner/rules/rules.h"
#include "planner/steps/builder.h"
#include "planner/testing/big_graph.h"

namespace koios::planner {
namespace {

Chain ChainOf(const std::string& text, const Schema* schema, const GraphStatistics* statistics) {
  const StatusOr<parser::Query> query = parser::Parse(text);
  CHECK(query.ok());
  const Parameters parameters{};
  QueryState state;
  state.parameters = &parameters;
  state.graph = GraphLook(schema, statistics);
  Builder builder(&state, TypeEnv{});
  CHECK(builder.AppendRoot(query->root).ok());
  Chain chain = builder.Take();
  RunRules(&chain, /*isolated=*/false, [](const Rule&, const Chain&) {});
  return chain;
}

Chain Big(const std::string& text) {
  return ChainOf(text, &testing::BigSchema(), &testing::BigStatistics());
}

double RowsOf(const std::string& text) {
  const Chain chain = Big(text);
  return CostModel(chain).PassAll(chain, Stream()).behind.rows;
}

double WorkOfAll(const std::string& text) {
  const Chain chain = Big(text);
  return CostModel(chain).PassAll(chain, Stream()).work;
}

TEST(CostModelTest, CountsAndDegrees) {
  EXPECT_DOUBLE_EQ(RowsOf("g.V()"), 1'011'000);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().hasLabel('Tag')"), 1000);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().hasLabel('Person').out('knows')"), 200'000);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().hasLabel('Person').out('knows').out('knows')"), 4'000'000);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().hasLabel('Person').both('knows')"), 400'000);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().hasLabel('Tag').in('tag').out('creator')"), 1'500'000);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().hasLabel('Tag').inE('tag').outV().out('creator')"), 1'500'000);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().hasLabel('Tag').out('knows')"), 0) << "no tag has any";
  EXPECT_DOUBLE_EQ(RowsOf("g.V().hasLabel('Post').out()"), 2'500'000);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().hasLabel('Post').out().hasLabel('Tag')"), 1'500'000);
  EXPECT_DOUBLE_EQ(RowsOf("g.E().hasLabel('knows')"), 200'000);
  const Chain arrivals = Big("g.V().out('knows').out('knows').count()");
  const std::string text = EstimatedText(arrivals, 0);
  EXPECT_NE(text.find("ARRIVALS)  ~200000\n"), std::string::npos) << text;
}

TEST(CostModelTest, SharesOfFilters) {
  EXPECT_DOUBLE_EQ(RowsOf("g.V().has('Person', 'id', 7)"), 1);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().has('Person', 'name', within('a', 'b', 'c'))"), 60);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().has('Person', 'age', 20)"), 125);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().has('Person', 'age', gt(80))"), 2000);
  EXPECT_NEAR(RowsOf("g.V().has('Person', 'age', between(20, 30))"), 1000, 1e-6);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().has('Person', 'age', neq(20))"), 9875);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().hasLabel('Post').has('content')"), 700'000);
  EXPECT_NEAR(RowsOf("g.V().hasLabel('Post').hasNot('content')"), 300'000, 1e-6);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().has('Person', 'length', 3)"), 0) << "nobody has it";
  EXPECT_LT(RowsOf("g.V().has('Person', 'age', gt(1000))"), 100) << "out of range";
  EXPECT_NEAR(RowsOf("g.V().has('Post', 'date', lt(1000)).has('length', lt(1000))"), 500, 1)
      << "what the index was asked counts once";
}

TEST(CostModelTest, SharesOfDegrees) {
  EXPECT_DOUBLE_EQ(RowsOf("g.V().hasLabel('Person').where(out('knows'))"), 10'000);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().hasLabel('Person').where(out('creator'))"), 0);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().hasLabel('Person').not(out('creator'))"), 10'000);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().hasLabel('Person').where(out('knows').count().is(gt(3)))"),
                   10'000);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().hasLabel('Person').where(out('knows').count().is(gt(100)))"), 0);
}

// From which side they are walked changes neither what passes nor what is thought of it.
TEST(CostModelTest, RowsOfWalks) {
  EXPECT_NEAR(RowsOf("g.V().hasLabel('Post').where(out('tag').hasLabel('Tag').has('name', 'x'))"),
              1500, 5);
  EXPECT_NEAR(RowsOf("g.V().hasLabel('Post').not(out('tag').hasLabel('Tag').has('name', 'x'))"),
              998'500, 5);
  EXPECT_NEAR(RowsOf("g.V().hasLabel('Person').choose(out('knows').has('Person', 'name', 'x'), "
                     "constant(1), constant(0))"),
              10'000, 1e-6);
  EXPECT_NEAR(RowsOf("g.V().hasLabel('Person').as('a').out('knows').out('knows').where(eq('a'))"),
              4'000'000 / 1'011'000.0, 1e-6);
  EXPECT_NEAR(RowsOf("g.V().hasLabel('Person').as('a').out('knows').where(neq('a'))"), 200'000, 1);
  EXPECT_DOUBLE_EQ(RowsOf("g.V().has('Person', 'id', 7).repeat(out('knows').simplePath())"
                          ".until(has('Person', 'id', 8)).path().limit(1)"),
                   1);
}

// What a child gives each row says nothing of how many rows there are; whom it lets pass does.
TEST(CostModelTest, ChildrenOfWhichNothingIsKnown) {
  const auto is_known = [](const std::string& text) {
    const Chain chain = Big(text);
    return CostModel(chain).PassAll(chain, Stream()).behind.known;
  };
  const std::string loop = "out('knows').emit().repeat(out('knows')).has('age', lt(3))";
  EXPECT_FALSE(is_known("g.V().hasLabel('Person').where(" + loop + ").values('age')"));
  EXPECT_FALSE(is_known("g.V().hasLabel('Person').not(" + loop + ").values('age')"));
  EXPECT_FALSE(is_known("g.V().hasLabel('Person').local(" + loop + ").values('age')"));
  EXPECT_TRUE(is_known("g.V().hasLabel('Person').project('n').by(" + loop + ".count())"));
}

// Of the two sides the better one counts.
TEST(CostModelTest, WorkOfWalks) {
  const auto of_tags = [](const std::string& start) {
    return WorkOfAll("g.V()" + start + ".where(out('tag').hasLabel('Tag').has('name', 'x'))");
  };
  EXPECT_LT(of_tags(".hasLabel('Post')"), 7e6) << "looked up, not walked";
  EXPECT_LT(WorkOfAll("g.V().hasLabel('Post').where(out('tag').has('name', 'x'))"), 7e6)
      << "posts have no name";
  EXPECT_LT(of_tags(".has('Post', 'date', 7)"), 200) << "a few rows are walked from";
  EXPECT_LT(WorkOfAll("g.V().hasLabel('Tag').as('a').in('tag').out('tag').where(eq('a'))"),
            WorkOfAll("g.V().hasLabel('Tag').in('tag').out('tag').has('name', neq('x'))"));
  EXPECT_LT(WorkOfAll("g.V().has('Person', 'id', 7).repeat(out('knows').simplePath())"
                      ".until(has('Person', 'id', 8)).path().limit(1)"),
            WorkOfAll("g.V().has('Person', 'id', 7).out('knows').out('knows').out('knows')"
                      ".out('knows').has('Person', 'id', 8)"));
}

// Estimates work whatever is missing, and are the same each time.
TEST(CostModelTest, DefaultsWhereNothingIsKnown) {
  for (const char* text : {"g.V().has('Person', 'id', 7).out('knows').where(out()).count()",
                           "g.V().repeat(out()).until(has('age', gt(3))).limit(3)",
                           "g.inject(1, 2).union(identity(), constant(3)).fold()"}) {
    for (const Schema* schema : {static_cast<const Schema*>(nullptr), &testing::BigSchema()}) {
      const Chain chain = ChainOf(text, schema, nullptr);
      const Passed passed = CostModel(chain).PassAll(chain, Stream());
      EXPECT_GE(passed.behind.rows, 0) << text;
      EXPECT_GT(passed.work, 0) << text;
      EXPECT_EQ(EstimatedText(chain, 0), EstimatedText(chain, 0));
    }
  }
}

TEST(CostModelTest, WorkTellsWaysApart) {
  EXPECT_LT(WorkOfAll("g.V().has('Person', 'id', 7).out('knows')"),
            WorkOfAll("g.V().has('Person', 'age', 7).out('knows')"));
  EXPECT_LT(WorkOfAll("g.V().hasLabel('Person').where(out('knows')).count()"),
            WorkOfAll("g.V().hasLabel('Person').where(out('knows').out('knows')).count()"));
}

TEST(CostModelTest, Text) {
  EXPECT_EQ(EstimatedText(Big("g.V().has('Person', 'name', 'x').where(out('knows')).count()"), 2),
            "  Source(vertex, labels=[Person], seek Person(name): name=[\"x\"])  ~20\n"
            "  Filter(eq(property(_, \"name\"), \"x\"))  ~20\n"
            "  Filter(gt(degree(_, 0, \"knows\"), 0L))  ~20\n"
            "  Reduce(COUNT)  ~1\n");
}

TEST(CostModelTest, ExplainHasEstimatesWhereThereAreStatistics) {
  const auto explain = [](const GraphStatistics* statistics) {
    const auto query = parser::Parse("g.V().hasLabel('Person').out('knows').explain()");
    return PlanQuery(*query, {&testing::BigSchema(), statistics, {}})->explain;
  };
  EXPECT_NE(explain(&testing::BigStatistics()).find("\nestimated\n"), std::string::npos);
  EXPECT_NE(explain(&testing::BigStatistics()).find("~200000\n"), std::string::npos);
  EXPECT_EQ(explain(nullptr).find("estimated"), std::string::npos);
}

}  // namespace
}  // namespace koios::planner
