#include "core/value_compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "core/big_number.h"
#include "core/testing/make_value.h"
#include "core/testing/random_value.h"

namespace koios {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value Letters(const char* text) { return Value::String(text); }
Value BigIntegerOf(int64_t v) { return Value::Of(BigNumber::FromInteger(v)); }
Value DecimalValue(const char* text) { return Value::Of(*BigNumber::ParseDecimal(text)); }

Value VertexData(Value id) {
  ElementData e;
  e.id = std::move(id);
  e.label = "person";
  return Made(Value::Of(std::move(e)));
}

std::vector<Value> Ones() {
  return {Value::Byte(1),    Value::Short(1),    Value::Int(1),   Value::Long(1),
          Value::Float(1.0), Value::Double(1.0), BigIntegerOf(1), DecimalValue("1")};
}

// Both ways, and the mirror image.
void ExpectLess(const Value& a, const Value& b) {
  ASSERT_TRUE(Compare(a, b).has_value());
  EXPECT_TRUE(*Compare(a, b) < 0);
  EXPECT_TRUE(*Compare(b, a) > 0);
  EXPECT_TRUE(TotalOrder(a, b) < 0);
  EXPECT_TRUE(TotalOrder(b, a) > 0);
  EXPECT_FALSE(Equals(a, b));
}

void ExpectIncomparable(const Value& a, const Value& b) {
  for (const auto& order : {Compare(a, b), Compare(b, a)}) {
    EXPECT_TRUE(!order.has_value() || *order == std::partial_ordering::unordered);
  }
  EXPECT_FALSE(Equals(a, b));
}

TEST(EqualsTest, NumbersOfAllTypesAreEqualByValue) {
  for (const Value& a : Ones()) {
    for (const Value& b : Ones()) {
      EXPECT_TRUE(Equals(a, b));
      EXPECT_EQ(TotalOrder(a, b), std::strong_ordering::equal);
    }
    EXPECT_FALSE(Equals(a, Value::Int(1000)));
  }
}

TEST(EqualsTest, NaNAndTypes) {
  EXPECT_FALSE(Equals(Value::Double(kNotANumber), Value::Double(kNotANumber)));
  EXPECT_FALSE(Equals(Value::Double(kNotANumber), Value::Double(1)));
  EXPECT_TRUE(Equals(Value::Null(), Value::Null()));
  EXPECT_FALSE(Equals(Value::Null(), Value::Double(kNotANumber)));
  EXPECT_FALSE(Equals(Letters("foo"), Value::Double(1)));
  EXPECT_FALSE(Equals(Letters("1"), Value::Int(1)));
  EXPECT_FALSE(Equals(Value::Bool(true), Value::Int(1)));
  EXPECT_FALSE(Equals(Letters("a"), Value::Char('a')));
  EXPECT_TRUE(Equals(Value::Double(0.0), Value::Double(-0.0)));
  EXPECT_FALSE(Equals(Value::Float(0.1f), Value::Double(0.1)));
  EXPECT_TRUE(Equals(DecimalValue("0.1"), Value::Double(0.1)));
  EXPECT_FALSE(Equals(BigIntegerOf(1), Value::Double(kInfinity)));
}

TEST(EqualsTest, CollectionsByMembers) {
  const Value list = ListOf({Value::Int(1), Letters("a")});
  EXPECT_TRUE(Equals(list, ListOf({Value::Double(1.0), Letters("a")})));
  EXPECT_FALSE(Equals(list, ListOf({Letters("a"), Value::Int(1)})));
  EXPECT_FALSE(Equals(list, ListOf({Value::Int(1)})));
  EXPECT_FALSE(Equals(list, SetOf({Value::Int(1), Letters("a")})));
  EXPECT_TRUE(
      Equals(SetOf({Value::Int(1), Value::Int(2)}), SetOf({Value::Double(2), Value::Long(1)})));
  EXPECT_FALSE(Equals(SetOf({Value::Int(1)}), SetOf({Value::Int(2)})));
  EXPECT_TRUE(Equals(MapOf({{Letters("a"), Value::Int(1)}, {Letters("b"), Value::Int(2)}}),
                     MapOf({{Letters("b"), Value::Long(2)}, {Letters("a"), Value::Float(1)}})));
  EXPECT_FALSE(
      Equals(MapOf({{Letters("a"), Value::Int(1)}}), MapOf({{Letters("a"), Value::Int(2)}})));
}

TEST(EqualsTest, ElementsByIdPropertiesByKeyAndValue) {
  EXPECT_TRUE(Equals(VertexData(Value::Long(1)), VertexData(Value::Int(1))));
  EXPECT_FALSE(Equals(VertexData(Value::Long(1)), VertexData(Letters("1"))));
  EXPECT_TRUE(Equals(Value::Of(VertexRef{7}), Value::Of(VertexRef{7})));
  EXPECT_FALSE(Equals(Value::Of(VertexRef{7}), Value::Of(EdgeRef{7, {}, {}, 1})));
  const Value p =
      Made(Value::Of(PropertyData{EdgeRef{1, {}, {}, 1}, "weight", Value::Double(0.5)}));
  const Value q =
      Made(Value::Of(PropertyData{EdgeRef{2, {}, {}, 1}, "weight", Value::Double(0.5)}));
  EXPECT_TRUE(Equals(p, q));      // P.eq looks at key and value,
  EXPECT_TRUE(Equivalent(p, q));  // dedup() too goes by key and value
  const PathData path{{Value::Int(1)}, {{"a"}}};
  EXPECT_TRUE(Equals(Made(Value::Of(path)), Made(Value::Of(path))));
  EXPECT_FALSE(Equals(Made(Value::Of(path)), Made(Value::Of(PathData{{Value::Int(1)}, {{"b"}}}))));
}

TEST(CompareTest, WithinATypeAndAcross) {
  ExpectLess(Value::Int(1), Value::Double(1.5));
  ExpectLess(Value::Double(-kInfinity), Value::Double(kInfinity));
  ExpectLess(BigIntegerOf(INT64_MAX), Value::Double(kInfinity));
  ExpectLess(Letters("a"), Letters("b"));
  ExpectLess(Letters("z"), Letters("é"));  // UTF-8 bytes, unsigned
  ExpectLess(Value::Bool(false), Value::Bool(true));
  ExpectLess(Value::Of(DateTime{1, 0, 0}), Value::Of(DateTime{1, 5, 0}));
  ExpectLess(Value::Of(Duration{-1, 5}), Value::Of(Duration{0, 0}));
  ExpectLess(Value::Of(Uuid{1, 9}), Value::Of(Uuid{2, 0}));
  ExpectIncomparable(Letters("foo"), Value::Double(1));
  ExpectIncomparable(Value::Double(kNotANumber), Value::Double(kNotANumber));
  ExpectIncomparable(Value::Double(kNotANumber), Value::Null());
  ExpectIncomparable(Value::Int(1), Value::Null());
  EXPECT_TRUE(*Compare(Value::Null(), Value::Null()) == 0);
}

TEST(CompareTest, CollectionsNeedComparableMembers) {
  ExpectLess(ListOf({Value::Int(1), Value::Int(9)}), ListOf({Value::Int(2), Value::Int(1)}));
  ExpectIncomparable(ListOf({Value::Int(1), Letters("a")}), ListOf({Value::Int(2), Value::Int(3)}));
  ExpectIncomparable(ListOf({Value::Int(1), Letters("a")}),
                     ListOf({Value::Int(2), Value::Int(3), Value::Int(4)}));
  ExpectLess(ListOf({Value::Int(1)}), ListOf({Value::Int(1), Value::Int(1)}));
  ExpectLess(ListOf({Value::Int(1), Value::Int(2)}), ListOf({Value::Int(3)}));
  ExpectLess(ListOf({Value::Int(1)}), ListOf({Value::Int(1), Letters("a")}));
  ExpectLess(ListOf({}), ListOf({Letters("a")}));
  ExpectIncomparable(ListOf({Value::Double(kNotANumber)}), ListOf({Value::Double(kNotANumber)}));
  ExpectIncomparable(ListOf({}), SetOf({}));
}

TEST(TotalOrderTest, TypesOrderAsInTheOrderabilityScenario) {
  const auto list = [](std::initializer_list<const char*> texts) {
    ValueList values;
    for (const char* text : texts) values.push_back(Letters(text));
    return values;
  };
  const std::vector<Value> ordered = {
      Value::Null(),
      Value::Bool(false),
      Value::Bool(true),
      Value::Double(-kInfinity),
      Value::Int(1),
      Value::Double(2.0),
      Value::Double(kInfinity),
      Value::Double(kNotANumber),
      Value::Of(DateTime{1'672'531'200, 0, 0}),
      Value::Of(DateTime{1'690'848'000, 0, 0}),
      Letters("bar"),
      Letters("foo"),
      Letters("zzz"),
      Value::Of(Uuid{0x5100808b62f942b7, 0}),
      Value::Of(Uuid{0x6100808b62f942b7, 0}),
      VertexData(Value::Long(1)),
      VertexData(Value::Long(2)),
      Value::Of(EdgeRef{1, {}, {}, 1}),
      Made(Value::Of(VertexPropertyData{{1}, "a", Value::Int(2)})),
      Made(Value::Of(PropertyData{{}, "a", Value::Int(15)})),
      Made(Value::Of(PropertyData{{}, "weight", Value::Double(0.2)})),
      Made(Value::Of(PathData{{Value::Int(1)}, {{}}})),
      SetOf(list({"z", "y", "x"})),
      ListOf(list({"a", "b", "c"})),
      ListOf(list({"a", "b", "c", "d"})),
      MapOf({{Letters("b"), Value::Bool(false)},
             {Letters("a"), Letters("a")},
             {Letters("c"), Letters("c")}}),
      MapOf({{Letters("a"), Letters("a")}, {Letters("b"), Letters("b")}}),
  };
  for (size_t i = 0; i < ordered.size(); ++i) {
    for (size_t j = 0; j < ordered.size(); ++j) {
      EXPECT_EQ(TotalOrder(ordered[i], ordered[j]), i <=> j) << i << " " << j;
    }
  }
}

TEST(TotalOrderTest, NumbersByExactValue) {
  ExpectLess(Value::Long((int64_t{1} << 53) + 1), Value::Long((int64_t{1} << 53) + 2));
  const Value odd = Value::Long((int64_t{1} << 53) + 1);
  EXPECT_TRUE(TotalOrder(Value::Double(0x1p53), odd) < 0);
  EXPECT_TRUE(Equals(Value::Double(0x1p53), odd));  // promoted to double, as TinkerPop does
  EXPECT_TRUE(TotalOrder(Value::Long(INT64_MAX), Value::Double(0x1p63)) < 0);
  EXPECT_TRUE(TotalOrder(Value::Long(INT64_MIN), Value::Double(-0x1p63)) == 0);
  EXPECT_TRUE(TotalOrder(Value::Int(-1), Value::Double(-1.5)) > 0);
  EXPECT_TRUE(TotalOrder(DecimalValue("0.1"), Value::Double(0.1)) < 0);  // the double is a bit more
}

// Zeros of all kinds: one value for P, and for order() the negative ones come first.
TEST(RelationsTest, NegativeZero) {
  const std::vector<Value> negative = {Value::Float(-0.0f), Value::Double(-0.0)};
  std::vector<Value> zeros = {Value::Byte(0),       Value::Short(0), Value::Int(0),
                              Value::Long(0),       Value::Float(0), Value::Double(0),
                              DecimalValue("0.00"), BigIntegerOf(0)};
  for (const Value& a : negative) {
    for (const Value& b : negative) EXPECT_TRUE(TotalOrder(a, b) == 0);
    for (const Value& b : zeros) {
      EXPECT_TRUE(Equals(a, b));
      EXPECT_TRUE(*Compare(a, b) == 0);
      EXPECT_TRUE(TotalOrder(a, b) < 0);
      EXPECT_TRUE(TotalOrder(b, a) > 0);
      EXPECT_FALSE(Equivalent(a, b));
    }
    ExpectLess(Value::Double(-5e-324), a);
  }
}

// A float is the decimal that it prints where it meets one, and its bits where it meets a double.
TEST(RelationsTest, FloatsAndDecimals) {
  EXPECT_TRUE(Equals(Value::Float(0.1f), DecimalValue("0.1")));
  EXPECT_TRUE(Equals(DecimalValue("0.10"), Value::Float(0.1f)));
  EXPECT_FALSE(Equals(Value::Float(0.1f), Value::Double(0.1)));
  EXPECT_TRUE(*Compare(Value::Float(0.1f), DecimalValue("0.10000000000000000001")) < 0);
  EXPECT_TRUE(TotalOrder(Value::Float(0.1f), DecimalValue("0.1")) > 0);  // by exact value
}

// What is neither a number nor text: the four relations within a kind, and with a value that looks
// alike.
TEST(RelationsTest, DatesDurationsUuidsCharactersBinaries) {
  const std::vector<std::pair<Value, Value>> ordered = {
      {Value::Of(DateTime{5, 999'999'999, 0}), Value::Of(DateTime{6, 0, 0})},
      {Value::Of(DateTime{5, 0, 0}), Value::Of(DateTime{5, 1, -3600})},
      {Value::Of(DateTime{5, 0, -3600}), Value::Of(DateTime{5, 0, 3600})},
      {Value::Of(Duration{-1, 999'999'999}), Value::Of(Duration{0, 0})},
      {Value::Of(Duration{1, 1}), Value::Of(Duration{1, 2})},
      {Value::Of(Uuid{1, 1}), Value::Of(Uuid{1, 2})},
      {Value::Of(Uuid{~uint64_t{0}, 0}), Value::Of(Uuid{0, 0})},  // halves have a sign
      {Value::Of(Uuid{0, ~uint64_t{0}}), Value::Of(Uuid{0, 0})},
      {Value::Char('Z'), Value::Char('a')},
      {Value::Char(0xFFFD), Value::Char(0x1F600)},
      {Value::Binary(""), Value::Binary(std::string(1, '\0'))},
      {Value::Binary("\x7f"), Value::Binary("\x80")},
      {Value::Bool(false), Value::Bool(true)},
  };
  for (const auto& [less, greater] : ordered) {
    ExpectLess(less, greater);
    EXPECT_FALSE(Equivalent(less, greater));
    EXPECT_TRUE(Equals(less, less));
    EXPECT_TRUE(Equivalent(less, less));
    EXPECT_TRUE(*Compare(less, less) == 0);
    for (const Value& other : {Value::Null(), Value::Int(0), Letters("a"), ListOf({less})}) {
      ExpectIncomparable(less, other);
      EXPECT_FALSE(Equivalent(less, other));
    }
  }
  ExpectIncomparable(Value::Binary("a"), Letters("a"));
  ExpectIncomparable(Value::Of(Duration{0, 0}), Value::Of(DateTime{}));
}

TEST(RelationsTest, RandomTriplesKeepTheLaws) {
  for (uint64_t seed = 0; seed < 30'000; ++seed) {
    testing::RandomValues values(seed);
    const bool numbers = seed % 2 == 0;
    const auto next = [&] { return numbers ? values.Number() : values.Next(2); };
    const Value a = next(), b = next(), c = next();
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_TRUE(TotalOrder(a, a) == 0);
    ASSERT_TRUE(Equivalent(a, a));
    ASSERT_EQ(TotalOrder(a, b), 0 <=> TotalOrder(b, a));
    if (TotalOrder(a, b) <= 0 && TotalOrder(b, c) <= 0) {
      ASSERT_TRUE(TotalOrder(a, c) <= 0);
    }
    ASSERT_EQ(Equals(a, b), Equals(b, a));
    ASSERT_EQ(Equivalent(a, b), Equivalent(b, a));
    if (Equivalent(a, b)) {
      ASSERT_EQ(EquivalenceHash(a), EquivalenceHash(b));
      ASSERT_TRUE(TotalOrder(a, b) == 0);
    }
    const auto order = Compare(a, b);
    ASSERT_EQ(order.has_value(), Compare(b, a).has_value());
    if (order.has_value()) {
      ASSERT_EQ(*order<0, *Compare(b, a)> 0);
    }
  }
}

TEST(EquivalentTest, NumbersDifferByTypeAndNaNIsOneKey) {
  const auto ones = Ones();
  for (size_t i = 0; i < ones.size(); ++i) {
    for (size_t j = 0; j < ones.size(); ++j) EXPECT_EQ(Equivalent(ones[i], ones[j]), i == j);
  }
  EXPECT_TRUE(Equivalent(Value::Double(kNotANumber), Value::Double(-kNotANumber)));
  EXPECT_EQ(EquivalenceHash(Value::Double(kNotANumber)),
            EquivalenceHash(Value::Double(-kNotANumber)));
  EXPECT_FALSE(Equivalent(DecimalValue("1.0"), DecimalValue("1.00")));
}

TEST(EquivalentTest, SetsAndMapsIgnoreOrder) {
  const Value ab = SetOf({Letters("a"), Letters("b")});
  const Value ba = SetOf({Letters("b"), Letters("a")});
  EXPECT_TRUE(Equivalent(ab, ba));
  EXPECT_EQ(EquivalenceHash(ab), EquivalenceHash(ba));
  const Value map = MapOf({{Letters("a"), ab}, {Letters("b"), Value::Int(1)}});
  const Value turned = MapOf({{Letters("b"), Value::Int(1)}, {Letters("a"), ba}});
  EXPECT_TRUE(Equivalent(map, turned));
  EXPECT_EQ(EquivalenceHash(map), EquivalenceHash(turned));
  EXPECT_FALSE(
      Equivalent(map, MapOf({{Letters("b"), Value::Int(1)}, {Letters("a"), Letters("a")}})));
  EXPECT_FALSE(Equivalent(ab, ListOf({Letters("a"), Letters("b")})));
}

TEST(EquivalentTest, HashIsStableAcrossProcesses) {
  EXPECT_EQ(EquivalenceHash(Value::Long(1)), EquivalenceHash(Value::Long(1)));
  EXPECT_NE(EquivalenceHash(Value::Long(1)), EquivalenceHash(Value::Int(1)));
  // Frames between processes of other builds rely on these.
  EXPECT_EQ(EquivalenceHash(Letters("marko")), 447'099'656'899'506'862u);
}

TEST(RelationsTest, CostOfDeepValuesIsNotExponential) {
  // Containers of one or two members, nested to the limit, that differ in the innermost one.
  for (int shape = 0; shape < 4; ++shape) {
    std::vector<Value> pair = {Value::Int(1), Value::Int(2)};
    for (int level = 0; level < kMaxValueDepth; ++level) {
      for (Value& v : pair) {
        if (shape == 0) v = ListOf({v});
        if (shape == 1) v = SetOf({v, Letters("x")});
        if (shape == 2) v = MapOf({{Letters("k"), v}});
        if (shape == 3) v = MapOf({{v, Value::Int(0)}, {Letters("k"), Value::Int(0)}});
      }
    }
    EXPECT_FALSE(Equals(pair[0], pair[1]));
    EXPECT_FALSE(Equivalent(pair[0], pair[1]));
    EXPECT_TRUE(*Compare(pair[0], pair[1]) < 0);
    EXPECT_TRUE(TotalOrder(pair[0], pair[1]) < 0);
    EXPECT_NE(EquivalenceHash(pair[0]), EquivalenceHash(pair[1]));
  }
}

// Sets of sets, each level in another order, that differ in one of 20,000 members.
TEST(RelationsTest, CostOfSetsInSetsIsNotExponential) {
  for (const bool of_maps : {false, true}) {
    const std::function<Value(int, int, bool)> nested = [&](int depth, int first, bool turned) {
      if (depth == 0) return Value::Int(first);
      ValueList members;
      for (int i = 0; i < 3; ++i) members.push_back(nested(depth - 1, 3 * first + i, turned));
      if (turned) std::reverse(members.begin(), members.end());
      if (!of_maps) return SetOf(std::move(members));
      ValueMap map;
      for (Value& member : members) map.emplace_back(std::move(member), Value::Int(depth));
      return MapOf(std::move(map));
    };
    const Value value = nested(9, 0, false), turned = nested(9, 0, true),
                other = nested(9, 1, true);
    EXPECT_TRUE(Equals(value, turned));
    EXPECT_TRUE(Equivalent(value, turned));
    EXPECT_TRUE(*Compare(value, turned) == 0);
    EXPECT_TRUE(TotalOrder(value, turned) == 0);
    EXPECT_TRUE(TotalOrder(value, other) < 0);
    EXPECT_TRUE(TotalOrder(other, turned) > 0);
    EXPECT_FALSE(Equals(value, other));
  }
}

TEST(MakeSetTest, KeepsTheFirstOfEquivalents) {
  const Value set = Made(MakeSet({Value::Int(2), Value::Int(1), Value::Int(2), Value::Double(2)}));
  ASSERT_EQ(set.AsList().size(), 3u);
  EXPECT_EQ(set.AsList()[0].AsInteger(), 2);
  EXPECT_EQ(set.AsList()[2].kind(), ValueKind::kDouble);
}

}  // namespace
}  // namespace koios
