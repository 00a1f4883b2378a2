#include "engine/effect/fold_operator.h"

#include <gtest/gtest.h>

#include <string>

#include "core/value_codec.h"
#include "engine/account/state_account.h"
#include "engine/effect/side_effects.h"

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

// Grants so much.
class FewBytes : public StateAccount {
 public:
  Status ChargeState(int64_t bytes) override {
    if (charged + bytes > limit) return ResourceExhausted("That is too much.", {});
    charged += bytes;
    return OkStatus();
  }
  int64_t StateRoom() const override { return limit - charged; }

  int64_t charged = 0;
  int64_t limit = 1 << 20;
};

TEST(FoldOperatorTest, TheValueOfASideEffectIsCharged) {
  FewBytes account;
  SideEffects effects;
  plan::InitialEffect initial;
  initial.set_name("x");
  initial.set_operator_("max");
  initial.set_value(EncodeValue(Value::String("")));
  ASSERT_TRUE(effects.Begin(initial).ok());
  auto* const effect = effects.Find("x");
  const auto add = [&](size_t bytes) {
    ChargeAhead charge(&account, SideEffects::ChargedFor(effect));
    return SideEffects::Add(effect, Value::String(std::string(bytes, 'x')), 1, &charge).status();
  };
  EXPECT_TRUE(add(300'000).ok());
  EXPECT_GE(account.charged, 300'000);
  EXPECT_LT(account.charged, 310'000);
  EXPECT_TRUE(add(1000).ok());  // less, and not kept
  EXPECT_LT(account.charged, 310'000);
  EXPECT_EQ(add(2'000'000).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(effects.Read("x")->AsString().size(), 300'000u);
  EXPECT_GE(account.charged, 300'000);
  EXPECT_LT(account.charged, 310'000);
}

}  // namespace
}  // namespace koios::engine
