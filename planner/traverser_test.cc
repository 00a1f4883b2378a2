#include "planner/traverser.h"

#include <set>

#include "gtest/gtest.h"

namespace koios::planner {
namespace {

TEST(TraverserTest, NamesAreNoLabelsAndNoNamesOfOneStep) {
  std::set<std::string_view> names;
  for (const CarriedThing& thing : CarriedThings()) {
    SCOPED_TRACE(thing.name);
    EXPECT_TRUE(names.insert(thing.name).second);
    EXPECT_FALSE(IsLabel(thing.name));
    EXPECT_TRUE(IsOfHistory(thing.name));
    // Names of one step are a letter and a number.
    EXPECT_EQ(thing.name.find_first_of("0123456789"), std::string_view::npos);
    // What grows inside a child that lets nothing out has grown for nobody; the builder adds what
    // the child gave to what was before.
    EXPECT_FALSE(thing.grows && thing.behind_closed != nullptr);
  }
  EXPECT_TRUE(IsOfHistory("label"));
  EXPECT_TRUE(IsLabel("label"));
  EXPECT_FALSE(IsOfHistory("~k3"));
  EXPECT_FALSE(GrowsInChild("~k3"));
}

TEST(TraverserTest, AClosedChildThatWentAlongEdgesStartsFromTheEnteringVertex) {
  Chain body;
  body.ops.push_back({StoreFrom(), {}, ""});
  body.ops.push_back({Expand{plan::OUT, {}, plan::Expand::INCIDENT}, {}, ""});
  Scope scope = ScopeOf(plan::ScopeExit::ALL, "", plan::Project::DROP_ROW, body);
  const std::vector<Project> stores = StoresBefore(scope);
  ASSERT_EQ(stores.size(), 1u);
  EXPECT_EQ(stores[0].target, FromName());
  EXPECT_TRUE(IsCurrent(*stores[0].value));
  scope.keeps_labels = true;
  EXPECT_TRUE(StoresBefore(scope).empty());
  scope.keeps_labels = false;
  scope.bodies[0].ops.erase(scope.bodies[0].ops.begin());
  EXPECT_TRUE(StoresBefore(scope).empty());
}

TEST(TraverserTest, APathGrowsByValuesAndLabels) {
  EXPECT_FALSE(GrownPath(false, {}).has_value());
  EXPECT_EQ(ExpressionText(*GrownPath(true, {"a"})->value), "path_append(~path, _, \"a\")");
  EXPECT_EQ(ExpressionText(*GrownPath(false, {"a"})->value), "path_label(~path, \"a\")");
  const std::string path = NewPath().target;
  EXPECT_TRUE(GrowsInChild(path));
  EXPECT_TRUE(StoresCarried(Op{NewPath(), {}, ""}));
  EXPECT_FALSE(MayMerge({path}));
  EXPECT_TRUE(MayMerge({}));
}

TEST(TraverserTest, ASackIsTheInitialOneUntilAnotherIsStored) {
  TypeEnv env;
  const PlanValue initial(Value::Int(1));
  EXPECT_EQ(ExpressionText(*CarriedSack(initial, env)), "sack_or(~sack, 1)");
  env.names[SackName()].always = true;
  EXPECT_EQ(ExpressionText(*CarriedSack(initial, env)), "~sack");
  EXPECT_TRUE(GrowsInChild(SackName()));
  EXPECT_TRUE(Changes(SackName()));
  EXPECT_FALSE(Changes(NewPath().target));
  EXPECT_FALSE(MayMerge({SackName()}));
  EXPECT_TRUE(StoresCarried(Op{StoreSack(Current()), {}, ""}));
  // A row without the property goes no further.
  EXPECT_FALSE(StoresCarried(Op{StoreSack(PropertyOf(Current(), "age")), {}, ""}));
}

}  // namespace
}  // namespace koios::planner
