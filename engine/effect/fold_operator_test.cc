#include "engine/effect/fold_operator.h"

#include <gtest/gtest.h>

#include <string>

namespace koios::engine {
namespace {

Value ListOfTexts(size_t count, size_t bytes) {
  ValueList texts;
  for (size_t i = 0; i < count; ++i) texts.push_back(Value::String(std::string(bytes, 'x')));
  return *Value::List(std::move(texts));
}

TEST(FoldOperatorTest, SacksOfMembersHaveABound) {
  const FoldOperator add_all = FindSackOperator("addAll");
  ASSERT_NE(add_all, nullptr);
  const StatusOr<Value> both = add_all(ListOfTexts(2, 10), ListOfTexts(3, 10));
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->AsList().size(), 5u);
  const Value large = ListOfTexts(1, size_t{40} << 20);
  const StatusOr<Value> refused = add_all(large, large);
  EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(refused.status())->reason, "VALUE_TOO_LARGE");
  EXPECT_FALSE(add_all(large, Value::Long(1)).ok());
}

}  // namespace
}  // namespace koios::engine
