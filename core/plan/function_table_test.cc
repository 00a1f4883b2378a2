#include "core/plan/function_table.h"

#include <iterator>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace koios::plan {
namespace {

TEST(FunctionTableTest, EachNameHasOneRow) {
  std::set<std::string_view> names;
  for (const FunctionTraits& row : kFunctions) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(FindFunction(row.name), &row);
  }
  EXPECT_EQ(FindFunction("no_such_function"), nullptr);
  EXPECT_EQ(&*FunctionRef("eq"), FindFunction("eq"));
}

TEST(FunctionTableTest, RowsContradictThemselvesNowhere) {
  for (const FunctionTraits& row : kFunctions) {
    SCOPED_TRACE(row.name);
    EXPECT_LE(row.min_args, row.max_args);
    EXPECT_EQ(row.constants.find_first_not_of("_csnidbl*"), std::string_view::npos);
    const bool has_free_argument = TakesArgument(row, 0, nullptr);
    // Without a value that may be absent, or an argument at all, there is nothing to be strict in.
    if (row.Has(kStrict) && row.Has(kAlwaysThere)) {
      EXPECT_FALSE(has_free_argument);
    }
    if (row.Has(kReadsStored)) {
      EXPECT_TRUE(has_free_argument);
      EXPECT_GE(row.min_args, 1);
    }
    if (row.Has(kReadsProperty)) {
      EXPECT_GE(row.min_args, 2);
    }
    if (row.Has(kOrdering)) {
      EXPECT_TRUE(row.Has(kComparison));
    }
    if (row.Has(kReadsEffect)) {
      EXPECT_LT(EffectArgument(row), static_cast<size_t>(row.min_args));
    }
  }
}

TEST(FunctionTableTest, LettersSayWhichConstantsACallTakes) {
  const Value text = Value::String("a"), number = Value::Int(1), nothing = Value::Null();
  const FunctionTraits& degree = *FunctionRef("degree");
  EXPECT_TRUE(TakesArgument(degree, 0, nullptr));
  EXPECT_TRUE(TakesArgument(degree, 1, &number));
  EXPECT_FALSE(TakesArgument(degree, 1, nullptr));
  EXPECT_FALSE(TakesArgument(degree, 1, &text));
  EXPECT_TRUE(TakesArgument(degree, 2, &text));
  EXPECT_TRUE(TakesArgument(degree, 200, &text));
  EXPECT_FALSE(TakesArgument(degree, 200, &number));
  EXPECT_TRUE(TakesArgument(*FunctionRef("path_range"), 1, &nothing));
  EXPECT_TRUE(TakesArgument(*FunctionRef("eq"), 1, nullptr));
}

TEST(FunctionTableTest, TypesThatDependOnArguments) {
  const Value yes = Value::Bool(true), name = Value::String("x");
  const auto type = [](FunctionRef function, std::vector<KnownArgument> args) {
    return function->type_of(args);
  };
  EXPECT_EQ(type("property", {{ValueType::kEdge}, {}}), ValueType::kScalar);
  EXPECT_EQ(type("property", {{ValueType::kAny}, {}}), ValueType::kAny);
  EXPECT_EQ(type("list_tail", {{ValueType::kMap}, {}}), ValueType::kMap);
  EXPECT_EQ(type("side_effect", {{ValueType::kScalar, &name}}), ValueType::kBag);
  EXPECT_EQ(type("side_effect", {{ValueType::kScalar, &name}, {ValueType::kScalar, &yes}}),
            ValueType::kMap);
  EXPECT_EQ(type("first_of", {{}, {ValueType::kMap}}), ValueType::kMap);
  EXPECT_EQ(type("first_of", {{}, {ValueType::kVertex}}), ValueType::kAny);
  const Value null, sum = Value::String("sum"), add = Value::String("addAll");
  EXPECT_EQ(type("side_effect", {{ValueType::kScalar, &name}, {ValueType::kScalar, &null}}),
            ValueType::kAny);
  EXPECT_EQ(type("sack_or", {{ValueType::kList}, {ValueType::kList}}), ValueType::kList);
  EXPECT_EQ(type("sack_or", {{ValueType::kVertex}, {ValueType::kScalar}}), ValueType::kAny);
  EXPECT_EQ(type("sack_or", {{ValueType::kEntry}, {ValueType::kScalar}}), ValueType::kMember);
  EXPECT_EQ(type("operated", {{ValueType::kScalar, &sum}, {}, {}}), ValueType::kScalar);
  EXPECT_EQ(type("operated", {{ValueType::kScalar, &add}, {}, {}}), ValueType::kList);
}

}  // namespace
}  // namespace koios::plan
