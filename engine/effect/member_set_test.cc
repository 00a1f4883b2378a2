// Members of all kinds, and values that are equal to some, beside a walk over all members.
#include "engine/effect/member_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/big_number.h"
#include "core/print/value_print.h"
#include "core/random.h"
#include "core/testing/make_value.h"
#include "core/testing/random_value.h"
#include "core/value_compare.h"

namespace koios::engine {
namespace {

// A number near one that both integers and floats have, or with a short fraction, of any kind.
Value DrawnNumber(Rng* rng) {
  const auto small = static_cast<int64_t>(rng->Uniform(7)) - 3;
  if (rng->Chance(0.5)) {
    const int64_t whole = small + (rng->Chance(0.5) ? int64_t{1} << 24 : 1'000'000'000);
    switch (rng->Uniform(5)) {
      case 0:
        return Value::Int(static_cast<int32_t>(whole));
      case 1:
        return Value::Long(whole);
      case 2:
        return Value::Float(static_cast<float>(whole));
      case 3:
        return Value::Double(static_cast<double>(whole));
      default:
        return Value::Of(BigNumber::FromInteger(whole));
    }
  }
  const double fraction = static_cast<double>(small) / 10;
  switch (rng->Uniform(4)) {
    case 0:
      return Value::Float(static_cast<float>(fraction));
    case 1:
      return Value::Double(static_cast<float>(fraction));
    case 2:
      return Value::Double(fraction);
    default:
      return Value::Of(*BigNumber::FromDouble(fraction));
  }
}

Value DrawnMember(Rng* rng, int depth) {
  if (depth == 0 || rng->Chance(0.5)) return DrawnNumber(rng);
  ValueList members;
  for (uint64_t i = rng->Uniform(3); i > 0; --i) members.push_back(DrawnMember(rng, depth - 1));
  switch (rng->Uniform(3)) {
    case 0:
      return ListOf(std::move(members));
    case 1:
      return Made(MakeSet(std::move(members)));
    default:
      return MapOf({{DrawnMember(rng, 0), ListOf(std::move(members))}});
  }
}

void ExpectAsWalked(const MemberSet& set, const ValueList& members, const Value& sought) {
  const bool expected = std::any_of(members.begin(), members.end(),
                                    [&](const Value& member) { return Equals(sought, member); });
  ASSERT_EQ(set.Contains(sought), expected) << PrintValue(sought);
}

TEST(MemberSetTest, FindsWhatIsEqual) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    koios::testing::RandomValues others(seed);
    MemberSet set;
    ValueList members, sought;
    for (int i = 0; i < 30; ++i) {
      members.push_back(rng.Chance(0.8) ? DrawnMember(&rng, 2) : others.Next());
      sought.push_back(rng.Chance(0.8) ? DrawnMember(&rng, 2) : others.Next());
      set.Add(members.back());
    }
    for (const Value& member : members)
      ASSERT_NO_FATAL_FAILURE(ExpectAsWalked(set, members, member));
    for (const Value& value : sought) ASSERT_NO_FATAL_FAILURE(ExpectAsWalked(set, members, value));
  }
}

TEST(MemberSetTest, NestedFloatsAreTheDecimalsTheyPrint) {
  MemberSet set;
  set.Add(ListOf({Value::Of(BigNumber::ParseDecimal("0.1").value())}));
  set.Add(ListOf({Value::Int(16'777'217)}));
  EXPECT_TRUE(set.Contains(ListOf({Value::Float(0.1f)})));
  EXPECT_TRUE(set.Contains(ListOf({Value::Float(0x1p24f)})));
  EXPECT_FALSE(set.Contains(ListOf({Value::Double(0.1f)})));
  EXPECT_FALSE(set.Contains(ListOf({Value::Int(16'777'216)})));
}

}  // namespace
}  // namespace koios::engine
