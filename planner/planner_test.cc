#include "planner/planner.h"

#include <gtest/gtest.h>

#include "core/text/text.h"
#include "parser/parser.h"

namespace koios::planner {
namespace {

StatusOr<PlannedQuery> Plan(std::string_view text, std::map<std::string, Value> parameters = {}) {
  ASSIGN_OR_RETURN(parser::Query query, parser::Parse(text));
  PlanContext context;
  context.parameters = std::move(parameters);
  return PlanQuery(query, context);
}

TEST(PlannerTest, NamesTheGraphAndTheOutcome) {
  StatusOr<PlannedQuery> plain = Plan("money.V()");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->plan.graph(), "money");
  EXPECT_EQ(plain->plan.format(), 1u);
  EXPECT_EQ(plain->outcome, Outcome::kResults);
  EXPECT_FALSE(plain->changes_graph);
  EXPECT_EQ(Plan("g.V().explain()")->outcome, Outcome::kExplain);
  EXPECT_EQ(Plan("g.V().profile()")->outcome, Outcome::kProfile);
}

TEST(PlannerTest, OperatorsAreInTopologicalOrderAndEndInTheSink) {
  StatusOr<PlannedQuery> planned = Plan(
      "g.V().as('a').union(out(), coalesce(in('x').limit(1), both())).where(out().has('p', 1))"
      ".choose(has('q'), out().count(), constant(1)).dedup().limit(3)");
  ASSERT_TRUE(planned.ok()) << planned.status();
  const plan::Plan& plan = planned->plan;
  for (int i = 0; i < plan.operators_size(); ++i) {
    EXPECT_EQ(plan.operators(i).id(), static_cast<uint32_t>(i));
    for (uint32_t next : plan.operators(i).next()) EXPECT_GT(next, static_cast<uint32_t>(i));
    EXPECT_EQ(plan.operators(i).next().empty(), plan.operators(i).has_sink());
  }
  EXPECT_TRUE(plan.operators(plan.operators_size() - 1).has_sink());
}

TEST(PlannerTest, ParametersAreTypedConstants) {
  StatusOr<PlannedQuery> planned = Plan("g.V().has('age', gt(x)).explain()",
                                        {{"x", Value::Long(29)}, {"unused", Value::Long(1)}});
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_NE(planned->explain.find("29L"), std::string::npos) << planned->explain;
  StatusOr<PlannedQuery> missing = Plan("g.V().has('age', gt(x))");
  EXPECT_EQ(missing.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(DetailOf(missing.status())->span.column, 21u);
}

TEST(PlannerTest, AnExplanationHasAnEnd) {
  std::string text = "g.V()";
  const std::string name(400, 'n');
  for (int i = 0; i < 2'400; ++i) {
    text += ".out('\u00e9" + name + std::to_string(i) + "')";
  }
  const StatusOr<PlannedQuery> planned = Plan(text + ".explain()");
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_LT(planned->explain.size(), (size_t{2} << 20) + 100);
  EXPECT_TRUE(planned->explain.ends_with("shown\n")) << planned->explain.size();
  EXPECT_TRUE(IsValidUtf8(planned->explain));
}

TEST(PlannerTest, PositionsOfStepsAreInThePlan) {
  StatusOr<PlannedQuery> planned = Plan("g.V().out('knows')");
  ASSERT_TRUE(planned.ok());
  bool found = false;
  for (const plan::Operator& op : planned->plan.operators()) {
    if (!op.has_expand()) continue;
    found = true;
    EXPECT_EQ(op.position().line(), 1u);
    EXPECT_EQ(op.position().column(), 7u);
    EXPECT_EQ(op.step(), "out(\"knows\")");
  }
  EXPECT_TRUE(found);
}

TEST(PlannerTest, DeepNestingIsPlannedWithoutOverflow) {
  std::string text = "g.V()";
  for (int i = 0; i < 60; ++i) text += ".where(__.out().dedup()";
  text += std::string(60, ')');
  StatusOr<PlannedQuery> planned = Plan(text);
  EXPECT_TRUE(planned.ok()) << planned.status();
}

// A loop may not plan its body more than once: that would double with each level.
TEST(PlannerTest, DeepLoopsArePlannedInLinearManyPasses) {
  std::string text = "g.V()";
  for (int i = 0; i < 60; ++i) text += ".emit(has('x')).repeat(__.out().as('a')";
  for (int i = 0; i < 60; ++i) text += ").until(loops().is(3))";
  StatusOr<PlannedQuery> planned = Plan(text);
  EXPECT_TRUE(planned.ok()) << planned.status();
}

TEST(PlannerTest, ManyInjectsHitTheLimit) {
  std::string text = "g.V()";
  for (int i = 0; i < 33; ++i) text += ".inject(1)";
  EXPECT_EQ(Plan(text).status().code(), StatusCode::kResourceExhausted);
}

TEST(PlannerTest, TooManyLabelsHitTheLimitWithItsPlace) {
  std::string text = "g.V()";
  for (int i = 0; i < 257; ++i) text += ".as('a" + std::to_string(i) + "').out()";
  const Status status = Plan(text).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(status)->limit, "256");
  EXPECT_EQ(DetailOf(status)->span.line, 1u);
}

TEST(PlannerTest, TooManySlotsHitTheLimit) {
  std::string text = "g.V().or(out().out()";
  for (int i = 0; i < 1200; ++i) text += ", out().out()";
  const Status status = Plan(text + ")").status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(status)->limit, "1000");
}

TEST(PlannerTest, WideConditionsNeedNoSlots) {
  std::string text = "g.V().or(has('k', 0)";
  for (int i = 1; i < 60; ++i) text += ", has('k', " + std::to_string(i) + ")";
  StatusOr<PlannedQuery> planned = Plan(text + ")");
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_EQ(planned->plan.num_slots(), 1u);
}

TEST(PlannerTest, LongChainsArePlanned) {
  std::string text = "g.V()";
  for (int i = 0; i < 3000; ++i) text += ".has('k', " + std::to_string(i) + ")";
  EXPECT_TRUE(Plan(text).ok());
  std::string body = "g.V().where(values('a')";
  for (int i = 0; i < 3000; ++i) body += ".values('a')";
  EXPECT_TRUE(Plan(body + ")").ok());
}

}  // namespace
}  // namespace koios::planner
