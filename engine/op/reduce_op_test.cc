// fold() with an operator: what it gives, what a bulk is, and what one call does.
#include "engine/op/reduce_op.h"

#include <gtest/gtest.h>

#include "core/random.h"
#include "core/testing/make_value.h"
#include "core/value_codec.h"
#include "core/value_compare.h"
#include "engine/effect/fold_operator.h"
#include "engine/op/op_test_support.h"

namespace koios::engine {
namespace {

#define EXPECT_FOLDED(a, b) EXPECT_TRUE(Equivalent(a, b))

plan::Reduce FoldOp(const Value& seed, const char* name) {
  plan::Reduce op;
  op.set_function(plan::Reduce::FOLD_WITH);
  op.set_seed(EncodeValue(seed));
  op.set_operator_(name);
  return op;
}

StatusOr<Value> FoldWith(const Value& seed, const char* name, const Batch& rows) {
  TestHost host;
  host.limit = 1 << 20;
  ASSIGN_OR_RETURN(const OperatorBundle reduce, MakeReduce(FoldOp(seed, name), &host));
  RETURN_IF_ERROR(reduce.barrier->Absorb(rows));
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, reduce.barrier->Proceed(rows));
  }
  Batch out;
  bool done = false;
  RETURN_IF_ERROR(reduce.barrier->Fire({}, &out, &done));
  EXPECT_EQ(host.charged, 0);
  return out.slots[0].Get(0);
}

TEST(FoldWithTest, FoldsEachTraverserOnce) {
  EXPECT_FOLDED(
      *FoldWith(Value::Int(10), "minus", Rows({Value::Int(1), Value::Int(2)}, {}, {3, 1})),
      Value::Int(5));
  EXPECT_FOLDED(*FoldWith(Value::Int(2), "mult", Rows({Value::Int(5)}, {}, {2})), Value::Int(50));
  EXPECT_FOLDED(*FoldWith(Value::Bool(false), "or", Rows({Value::Bool(true)})), Value::Bool(true));
  EXPECT_FOLDED(*FoldWith(ListOf({}), "addAll", Rows({ListOf({Value::String("a")})})),
                ListOf({ListOf({Value::String("a")})}));
  EXPECT_FOLDED(*FoldWith(Value::Int(1), "assign", Rows({Value::String("last")})),
                Value::String("last"));
}

// What takes no loop gives what the loop gives.
TEST(FoldWithTest, ABulkIsFoldedAsItsTraversersAre) {
  Rng rng(17);
  const auto any = [&rng] {
    switch (rng.Uniform(5)) {
      case 0:
        return Value::Byte(static_cast<int8_t>(rng.Next()));
      case 1:
        return Value::Short(static_cast<int16_t>(rng.Next()));
      case 2:
        return Value::Int(static_cast<int32_t>(rng.Next()));
      case 3:
        return Value::Long(static_cast<int64_t>(rng.Next() >> rng.Uniform(64)));
      default:
        return Value::Double(rng.Double());
    }
  };
  for (int round = 0; round < 5000; ++round) {
    const char* names[] = {"sum", "minus", "sumLong", "mult", "div", "min", "max", "assign"};
    const char* name = names[rng.Uniform(std::size(names))];
    const Value seed = any();
    const Value value = any();
    const auto bulk = static_cast<int64_t>(1 + rng.Uniform(40));
    StatusOr<Value> expected = seed;
    for (int64_t i = 0; i < bulk && expected.ok(); ++i) {
      expected = FindFoldOperator(name)(*expected, value);
    }
    const StatusOr<Value> folded = FoldWith(seed, name, Rows({value}, {}, {bulk}));
    ASSERT_EQ(folded.status().code(), expected.status().code()) << name << " round " << round;
    if (expected.ok()) {
      ASSERT_EQ(EncodeValue(*folded), EncodeValue(*expected)) << name << " round " << round;
    }
  }
}

// A loop over each of these would not come to its end.
TEST(FoldWithTest, AHugeBulkTakesNoLoop) {
  constexpr int64_t kMany = int64_t{1} << 40;
  const auto fold = [](const Value& seed, const char* name, const Value& value) {
    return FoldWith(seed, name, Rows({value}, {}, {kMany}));
  };
  EXPECT_FOLDED(*fold(Value::Int(5), "sum", Value::Int(3)), Value::Long(3 * kMany + 5));
  EXPECT_FOLDED(*fold(Value::Int(5), "minus", Value::Int(1)), Value::Long(5 - kMany));
  EXPECT_FOLDED(*fold(Value::Int(1), "sumLong", Value::Int(2)), Value::Long(2 * kMany + 1));
  EXPECT_EQ(fold(Value::Int(1), "sum", Value::Long(kMany)).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(fold(Value::Int(1), "mult", Value::Int(2)).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_FOLDED(*fold(Value::Int(7), "mult", Value::Int(0)), Value::Int(0));
  EXPECT_FOLDED(*fold(Value::Int(7), "div", Value::Int(2)), Value::Int(0));
  EXPECT_FOLDED(*fold(Value::Int(7), "min", Value::Int(2)), Value::Int(2));
  EXPECT_FOLDED(*fold(Value::Bool(true), "and", Value::Bool(false)), Value::Bool(false));
  EXPECT_FOLDED(*fold(SetOf({}), "addAll", Value::Int(2)), SetOf({Value::Int(2)}));
  EXPECT_EQ(fold(ListOf({}), "addAll", Value::Int(2)).status().code(),
            StatusCode::kResourceExhausted);
}

// What does need a loop gives the driver its turn.
TEST(FoldWithTest, ALongLoopIsDoneInSlices) {
  TestHost host;
  const Batch rows = Rows({Value::Double(0.1)}, {}, {100'000});
  const OperatorBundle fold = *MakeReduce(FoldOp(Value::Double(0), "sum"), &host);
  ASSERT_TRUE(fold.barrier->Absorb(rows).ok());
  int slices = 0;
  while (*fold.barrier->Proceed(rows)) ++slices;
  EXPECT_GT(slices, 10);
  EXPECT_NEAR(FireAll(fold.barrier.get()).slots[0].Get(0).AsDouble(), 10'000, 0.001);
}

// What addAll adds to grows by what is added: a copy of all at each step would be more than all
// calls here may do.
TEST(FoldWithTest, WhatIsAddedToIsNotCopiedAtEachStep) {
  constexpr int kBatches = 200;
  const auto calls_of = [](const Value& seed, const auto& value_of, size_t expected) {
    TestHost host;
    const OperatorBundle fold = *MakeReduce(FoldOp(seed, "addAll"), &host);
    size_t calls = 0;
    for (int batch = 0; batch < kBatches; ++batch) {
      ValueList values;
      for (int i = 0; i < 1000; ++i) values.push_back(value_of(batch * 1000 + i));
      const Batch rows = Rows(values);
      EXPECT_TRUE(fold.barrier->Absorb(rows).ok());
      while (*fold.barrier->Proceed(rows)) ++calls;
    }
    const Value all = FireAll(fold.barrier.get()).slots[0].Get(0);
    EXPECT_EQ(all.kind(), seed.kind());
    EXPECT_EQ(all.kind() == ValueKind::kMap ? all.AsMap().size() : all.AsList().size(), expected);
    EXPECT_EQ(host.charged, 0);
    return calls;
  };
  const auto number = [](int i) { return Value::Int(i % 150'000); };
  EXPECT_LT(calls_of(ListOf({Value::Null()}), number, 200'001), 2 * kBatches);
  EXPECT_LT(calls_of(SetOf({Value::Int(-1), Value::Int(0)}), number, 150'001), 6 * kBatches);
  const auto entry = [&](int i) { return MapOf({{number(i), Value::Int(i)}}); };
  EXPECT_LT(calls_of(MapOf({{Value::Int(-1), Value::Int(0)}}), entry, 150'001), 6 * kBatches);
}

TEST(FoldWithTest, AddAllPutsTheLastValueUnderAKey) {
  const auto entry = [](int key, int value) {
    return std::pair(Value::Int(key), Value::Int(value));
  };
  EXPECT_FOLDED(
      *FoldWith(MapOf({entry(1, 1), entry(2, 2)}), "addAll",
                Rows({MapOf({entry(2, 3), entry(4, 4)}), MapOf({entry(4, 5)})}, {}, {3, 1})),
      MapOf({entry(1, 1), entry(2, 3), entry(4, 5)}));
  EXPECT_FALSE(FoldWith(MapOf({}), "addAll", Rows({Value::Int(1)})).ok());
  EXPECT_FALSE(FoldWith(ListOf({}), "addAll", Rows({MapOf({})})).ok());
}

// A map of many entries, as a seed or as a value, is added in many calls.
TEST(FoldWithTest, LongMapsAreAddedInParts) {
  ValueMap entries;
  for (int i = 0; i < 50'000; ++i) entries.emplace_back(Value::Int(i), Value::Int(i));
  const Value map = *Value::Map(entries);
  TestHost host;
  const OperatorBundle fold = *MakeReduce(FoldOp(map, "addAll"), &host);
  const Batch rows = Rows({map, map});
  ASSERT_TRUE(fold.barrier->Absorb(rows).ok());
  int slices = 0;
  while (*fold.barrier->Proceed(rows)) ++slices;
  EXPECT_GT(slices, 30);
  EXPECT_FOLDED(FireAll(fold.barrier.get()).slots[0].Get(0), map);
  EXPECT_EQ(host.charged, 0);
}

TEST(FoldWithTest, ValuesAsDeepAsCanBeAreRefused) {
  Value deep = Value::Int(1);
  while (deep.depth() < kMaxValueDepth) deep = ListOf({deep});
  EXPECT_EQ(FoldWith(ListOf({}), "addAll", Rows({deep})).status().code(),
            StatusCode::kResourceExhausted);
}

TEST(FoldWithTest, OfNothingIsTheSeedAndOfStrangersAnError) {
  Batch none;
  EXPECT_FOLDED(*FoldWith(Value::Int(7), "sum", none), Value::Int(7));
  EXPECT_FALSE(FoldWith(Value::Int(7), "addAll", Rows({Value::Int(1)})).ok());
  EXPECT_FALSE(FoldWith(Value::Int(7), "nosuch", Rows({Value::Int(1)})).ok());
}

}  // namespace
}  // namespace koios::engine
