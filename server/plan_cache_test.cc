#include "server/plan_cache.h"

#include <gtest/gtest.h>

#include "parser/parser.h"

namespace koios::server {
namespace {

using Values = std::map<std::string, Value>;

class PlanCacheTest : public testing::Test {
 protected:
  // As a session does. True: it was found.
  bool Ask(PlanCache* cache, const std::string& text, const Values& values = {}) {
    const std::string key = cache->KeyOf("", text, values);
    const auto found = cache->Find(
        key, [&](const KeptPlan& plan) { return plan.Fits(schema_, statistics_, values); });
    const parser::Query query = *parser::Parse(text);
    planner::PlanContext context;
    context.schema = &schema_;
    context.statistics = statistics_;
    context.parameters = values;
    planner::PlannedQuery planned = *planner::PlanQuery(query, context);
    if (found == nullptr) {
      cache->Keep(key, query.root.source, context, planned);
      return false;
    }
    EXPECT_EQ(found->source, query.root.source);
    plan::Plan plan = found->planned.plan;
    planner::PutValues(found->planned.holes, values, &plan);
    planner::PutValues(planned.holes, values, &planned.plan);
    EXPECT_EQ(plan.SerializeAsString(), planned.plan.SerializeAsString());
    return true;
  }

  MemoryAccount account_{"all plans", 1 << 20};
  Schema schema_;
  const GraphStatistics* statistics_ = nullptr;
};

TEST_F(PlanCacheTest, IsForOneTextAndKindsOfParameters) {
  PlanCache cache(&account_);
  EXPECT_FALSE(Ask(&cache, "g.V(x).label()", {{"x", Value::Long(1)}}));
  EXPECT_TRUE(Ask(&cache, "g.V(x).label()", {{"x", Value::Long(2)}}));
  EXPECT_FALSE(Ask(&cache, "g.V(x).label()", {{"x", Value::Int(2)}}));
  EXPECT_FALSE(Ask(&cache, "g.V(x).label()", {{"x", Value::String("2")}}));
  EXPECT_FALSE(Ask(&cache, "g.V(x).id()", {{"x", Value::Long(2)}}));
  EXPECT_EQ(cache.counts().hits, 1u);
  EXPECT_EQ(cache.counts().misses, 4u);
  EXPECT_EQ(cache.counts().texts, 4u);
}

TEST_F(PlanCacheTest, KnowsHowOftenAParameterIsNamedAgain) {
  PlanCache cache(&account_);
  const Values values = {{"x", Value::String(std::string(1000, 'x'))}, {"y", Value::Long(1)}};
  Ask(&cache, "g.inject(x, y, x, x)", values);
  const auto kept = cache.Find(cache.KeyOf("", "g.inject(x, y, x, x)", values),
                               [](const KeptPlan&) { return true; });
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->BytesNamedAgain(values), 2 * values.at("x").FlatBytes());
}

TEST_F(PlanCacheTest, WhereAValueDecidesItIsForThatValue) {
  PlanCache cache(&account_, {.plans_per_text = 2});
  for (const bool found : {false, true}) {
    EXPECT_EQ(Ask(&cache, "g.V().limit(n)", {{"n", Value::Long(1)}}), found);
    EXPECT_EQ(Ask(&cache, "g.V().limit(n)", {{"n", Value::Long(2)}}), found);
  }
  EXPECT_FALSE(Ask(&cache, "g.V().limit(n)", {{"n", Value::Long(3)}}));
  EXPECT_FALSE(Ask(&cache, "g.V().limit(n)", {{"n", Value::Long(1)}}));
  EXPECT_EQ(cache.counts().evictions, 2u);
  EXPECT_EQ(cache.counts().texts, 1u);
}

TEST_F(PlanCacheTest, AnIndexThatComesEndsIt) {
  PlanCache cache(&account_);
  EXPECT_FALSE(Ask(&cache, "g.V().has('person', 'name', 'marko')"));
  EXPECT_TRUE(Ask(&cache, "g.V().has('person', 'name', 'marko')"));
  const LabelId person = schema_.labels.Intern("person");
  schema_.vertex_indexes[1] = {person, {schema_.keys.Intern("name")}, true, 0};
  EXPECT_FALSE(Ask(&cache, "g.V().has('person', 'name', 'marko')"));
  EXPECT_TRUE(Ask(&cache, "g.V().has('person', 'name', 'marko')"));
  schema_.vertex_indexes.clear();
  EXPECT_FALSE(Ask(&cache, "g.V().has('person', 'name', 'marko')"));  // its place was taken
  EXPECT_EQ(cache.counts().evictions, 2u);
}

TEST_F(PlanCacheTest, PlansOfOneGraphShareWhatTheyKnowOfIt) {
  PlanCache cache(&account_);
  const LabelId person = schema_.labels.Intern("person");
  schema_.vertex_indexes[1] = {person, {schema_.keys.Intern("name")}, true, 0};
  for (int i = 0; i < 200; ++i) schema_.keys.Intern("key" + std::to_string(i));
  GraphStatistics statistics;
  statistics.vertices[person] = 5000;
  schema_.vertex_counts[person] = 5000;
  statistics_ = &statistics;
  const auto ask = [&](int i) {
    return Ask(&cache, "g.V().has('person', 'name', '" + std::to_string(i) + "')");
  };
  EXPECT_FALSE(ask(0));
  const int64_t first = account_.used();
  for (int i = 1; i < 20; ++i) EXPECT_FALSE(ask(i));
  EXPECT_LT(account_.used() - first, 10 * first);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(ask(i));
  statistics.vertices[person] = 5001;
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(ask(i));
}

TEST_F(PlanCacheTest, TheLeastRecentlyUsedGoes) {
  PlanCache cache(&account_, {.texts = 2});
  Ask(&cache, "g.V(1)");
  Ask(&cache, "g.V(2)");
  EXPECT_TRUE(Ask(&cache, "g.V(1)"));
  Ask(&cache, "g.V(3)");
  EXPECT_TRUE(Ask(&cache, "g.V(1)"));
  EXPECT_FALSE(Ask(&cache, "g.V(2)"));
  EXPECT_EQ(cache.counts().texts, 2u);
}

TEST_F(PlanCacheTest, ItsBytesAreBoundedChargedAndGivenBack) {
  MemoryAccount queries("all queries", 100'000);
  MemoryAccount plans("all plans", 50'000, &queries);
  {
    PlanCache cache(&plans);
    for (int i = 0; i < 200; ++i)
      Ask(&cache, "g.V(" + std::to_string(i) + ").out().values('name')");
    EXPECT_GT(plans.used(), 10'000);
    EXPECT_LE(plans.used(), 50'000);
    EXPECT_EQ(cache.counts().bytes, static_cast<uint64_t>(plans.used()));
    EXPECT_GT(cache.counts().evictions, 0u);
    // What queries take is not there for plans.
    ASSERT_TRUE(queries.TryCharge(100'000 - queries.used()));
    Ask(&cache, "g.V().out().count()");
    EXPECT_LE(queries.used(), 100'000);
    queries.Release(queries.used() - plans.used());
  }
  EXPECT_EQ(plans.used(), 0);
  EXPECT_EQ(queries.used(), 0);
}

TEST_F(PlanCacheTest, WhatIsLookedAtIsNotKeptWhenItIsLongAndOtherValuesNever) {
  PlanCache cache(&account_);
  const Value text = Value::String(std::string(100'000, 'x'));
  EXPECT_FALSE(Ask(&cache, "g.V().hasLabel(x)", {{"x", text}}));
  EXPECT_EQ(cache.counts().texts, 0u);
  EXPECT_FALSE(Ask(&cache, "g.V().has('name', x)", {{"x", text}}));
  EXPECT_LT(account_.used(), 50'000);
  EXPECT_TRUE(Ask(&cache, "g.V().has('name', x)", {{"x", text}}));
}

TEST_F(PlanCacheTest, LongTextsAreNotKept) {
  PlanCache cache(&account_, {.text_bytes = 100});
  EXPECT_EQ(cache.KeyOf("", std::string(200, 'x'), {}), "");
  EXPECT_NE(cache.KeyOf("", "g.V()", {}), "");
}

}  // namespace
}  // namespace koios::server
