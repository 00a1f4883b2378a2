// Operators and functions around side-effects, by themselves: when a bag is seen, what bulk means,
// what is charged; groups as rows, coin.
#include "engine/op/effect_ops.h"

#include "core/testing/make_value.h"
#include "core/value_codec.h"
#include "engine/op/group_op.h"
#include "engine/op/op_test_support.h"
#include "engine/op/reduce_op.h"
#include "engine/op/row_ops.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

#define EXPECT_SAME(a, b) EXPECT_TRUE(Equivalent(a, b))

Value StringOf(const std::string& text) { return Value::String(text); }

plan::Aggregate AggregateInto(const char* name, uint32_t slot) {
  plan::Aggregate op;
  op.set_name(name);
  op.set_value_slot(slot);
  return op;
}

TEST(AggregateTest, AddsWhenItFiresAndGivesItsRowsAgain) {
  TestHost host;
  const auto bundle = MakeAggregate(AggregateInto("x", 0), 2, &host);
  ASSERT_TRUE(bundle.ok());
  BarrierOperator* aggregate = bundle->barrier.get();
  EXPECT_EQ(host.side_effects().Read("x")->AsList().size(), 0u);  // there from the start
  ASSERT_TRUE(aggregate->Absorb(Rows({Value::Int(1), Value::Int(2)}, {}, {3, 1})).ok());
  EXPECT_EQ(host.side_effects().Read("x")->AsList().size(), 0u);
  const Batch out = FireAll(aggregate);
  EXPECT_EQ(out.rows, 2u);
  EXPECT_EQ(out.BulkAt(0), 3);
  EXPECT_SAME(*host.side_effects().Read("x"),
              ListOf({Value::Int(1), Value::Int(1), Value::Int(1), Value::Int(2)}));
  EXPECT_GT(host.charged, 0);  // the rows are given back, the bag stays charged
}

TEST(AggregateTest, IterationsAreBarriersOfTheirOwn) {
  TestHost host;
  const auto bundle = MakeAggregate(AggregateInto("x", 0), 2, &host);
  ASSERT_TRUE(bundle->barrier->Absorb(Rows({Value::Int(1)}, {}, {}, {0})).ok());
  ASSERT_TRUE(bundle->barrier->Absorb(Rows({Value::Int(2)}, {}, {}, {1})).ok());
  FireAll(bundle->barrier.get(), StateKey{{}, {0}});
  EXPECT_SAME(*host.side_effects().Read("x"), ListOf({Value::Int(1)}));
  FireAll(bundle->barrier.get(), StateKey{{}, {1}});
  EXPECT_SAME(*host.side_effects().Read("x"), ListOf({Value::Int(1), Value::Int(2)}));
}

TEST(AggregateTest, ARowWithoutValueAddsNothingAndPasses) {
  TestHost host;
  const auto bundle = MakeAggregate(AggregateInto("x", 1), 2, &host);
  Batch rows = Rows({Value::Int(1), Value::Int(2)}, {StringOf("a")});
  rows.slots[1].AppendAbsent();
  ASSERT_TRUE(bundle->barrier->Absorb(rows).ok());
  EXPECT_EQ(FireAll(bundle->barrier.get()).rows, 2u);
  EXPECT_SAME(*host.side_effects().Read("x"), ListOf({StringOf("a")}));
}

TEST(AggregateTest, IsChargedBeforeItGrows) {
  TestHost host;
  const auto bundle = MakeAggregate(AggregateInto("x", 0), 2, &host);
  ASSERT_TRUE(bundle->barrier->Absorb(Rows({Value::Int(1)}, {}, {int64_t{1} << 50})).ok());
  host.limit = 1 << 20;
  Batch batch;
  bool done = false;
  EXPECT_EQ(bundle->barrier->Fire({}, &batch, &done).code(), StatusCode::kResourceExhausted);
}

// Many rows are gathered in many calls, and all of them before the first comes out.
TEST(AggregateTest, ManyRowsAreGatheredInSlices) {
  TestHost host;
  auto bundle = MakeAggregate(AggregateInto("x", 0), 2, &host);
  ASSERT_TRUE(bundle.ok());
  constexpr size_t kBatches = 50;
  for (size_t i = 0; i < kBatches; ++i) {
    ASSERT_TRUE(bundle->barrier->Absorb(Rows(ValueList(kBatchRows, Value::Int(1)))).ok());
  }
  size_t calls = 0, rows = 0;
  for (bool done = false; !done;) {
    Batch batch;
    ASSERT_TRUE(bundle->barrier->Fire({}, &batch, &done).ok());
    calls += rows == 0 ? 1 : 0;
    rows += batch.rows;
    const Value bag = *host.side_effects().Read("x");
    EXPECT_EQ(bag.AsList().size() == kBatches * kBatchRows, rows > 0);
  }
  EXPECT_EQ(rows, kBatches * kBatchRows);
  EXPECT_GT(calls, 10u);
}

// Members 0 to 59,999 put to a bag by `gather`, of which a small part fits into memory.
class SpilledBagTest : public ::testing::Test {
 protected:
  static constexpr size_t kMembers = 60'000;

  void SetUp() override {
    host_.limit = 600'000;
    host_.side_effects().ChargeTo(&host_);
    ASSERT_TRUE(host_.side_effects().DeclareBag("x").ok());
  }
  static Value Member(size_t i) { return StringOf(std::to_string(i) + ", and some more of it"); }
  static Batch Members(size_t begin) {
    ValueList values;
    for (size_t i = begin; i < std::min(kMembers, begin + kBatchRows); ++i) {
      values.push_back(Member(i));
    }
    return Rows(values);
  }
  void SpillOf(Spiller* spiller) {
    while (spiller->must_spill() || host_.charged > host_.limit / 2) {
      if (spiller->SpillableBytes() == 0) break;
      const StatusOr<bool> done = spiller->Spill();
      ASSERT_TRUE(done.ok()) << done.status();
    }
  }
  void ByBarrier() {
    auto bundle = MakeAggregate(AggregateInto("x", 0), 1, &host_);
    ASSERT_TRUE(bundle.ok());
    for (size_t i = 0; i < kMembers; i += kBatchRows) {
      ASSERT_TRUE(bundle->barrier->Absorb(Members(i)).ok());
      SpillOf(bundle->barrier.get());
    }
    size_t rows = 0;
    for (bool done = false; !done;) {
      Batch batch;
      const Status fired = bundle->barrier->Fire({}, &batch, &done);
      ASSERT_TRUE(fired.ok()) << fired;
      rows += batch.rows;
      SpillOf(bundle->barrier.get());
    }
    EXPECT_EQ(rows, kMembers);
  }
  // No room is made but when it says that it needs some.
  void RowByRow() {
    plan::Aggregate op = AggregateInto("x", 0);
    op.set_each(true);
    auto bundle = MakeAggregate(op, 1, &host_);
    ASSERT_TRUE(bundle.ok());
    size_t rows = 0, stops = 0;
    for (size_t i = 0; i < kMembers; i += kBatchRows) {
      const Batch input = Members(i);
      OpOutput output;
      for (bool done = false; !done;) {
        const Status given = bundle->stream->Process(input, &output, &done);
        ASSERT_TRUE(given.ok()) << given;
        rows += output.rows(input);
        output.identity = false;
        output.origin.clear();
        if (!bundle->stream->must_spill()) continue;
        ++stops;
        for (bool gone = false; !gone;) gone = *bundle->stream->Spill();
      }
    }
    EXPECT_EQ(rows, kMembers);
    EXPECT_GT(stops, 2u);
  }
  void ExpectShare() {
    plan::Cap op;
    op.add_names("x");
    op.set_stage(plan::PARTIAL);
    auto bundle = MakeCap(op, 1, &host_);
    ASSERT_TRUE(bundle.ok());
    size_t next = 0;
    for (bool done = false; !done;) {
      Batch batch;
      const Status fired = bundle->barrier->Fire({}, &batch, &done);
      ASSERT_TRUE(fired.ok()) << fired;
      for (size_t row = 0; row < batch.rows; ++row) {
        ASSERT_TRUE(Equivalent(batch.slots[0].Get(row), Member(next++)));
      }
    }
    EXPECT_EQ(next, kMembers);
  }

  TestHost host_;
};

TEST_F(SpilledBagTest, IsGivenInItsOrder) {
  ByBarrier();
  EXPECT_LT(host_.charged, host_.limit);
  ExpectShare();
  RowByRow();
}

TEST_F(SpilledBagTest, OfRowsOneByOne) {
  RowByRow();
  ExpectShare();
}

TEST_F(SpilledBagTest, IsAskedForMembers) {
  ByBarrier();
  SideEffects& effects = host_.side_effects();
  const StatusOr<bool> short_of_room = effects.Contains(*effects.FindBag("x"), Member(7));
  EXPECT_EQ(short_of_room.status().code(), StatusCode::kResourceExhausted);
  host_.limit = INT64_MAX;
  EXPECT_TRUE(*effects.Contains(*effects.FindBag("x"), Member(7)));
  EXPECT_TRUE(*effects.Contains(*effects.FindBag("x"), Member(kMembers - 1)));
  EXPECT_FALSE(*effects.Contains(*effects.FindBag("x"), Member(kMembers)));
  EXPECT_GT(host_.charged, static_cast<int64_t>(kMembers * sizeof(Value)));
  EXPECT_EQ(SideEffects::SpillableBytes(*effects.Find("x")), 0);
}

// Calls of the function until it gives something, of a bag that fits into memory again.
size_t CallsOf(const plan::Expr& expr, TestHost* host) {
  host->limit = INT64_MAX;
  const Expression expression = Expression::Bind(expr, 1, host->account().get()).value();
  const Batch rows = Rows({StringOf("5, and some more of it")});
  Evaluation evaluation;
  expression.Begin(&evaluation);
  const Operand* result = nullptr;
  size_t calls = 0;
  for (; result == nullptr; ++calls) {
    const Status status = expression.Proceed(rows, host->sources(), &evaluation, &result);
    EXPECT_TRUE(status.ok()) << status;
    if (!status.ok()) return 0;
  }
  const Value value = result->Get(0);
  EXPECT_TRUE(value.kind() == ValueKind::kBool ? value.AsBool() : value.AsList().size() == 60'000);
  return calls;
}

TEST_F(SpilledBagTest, AQuestionTakesItInSlices) {
  ByBarrier();
  EXPECT_GT(CallsOf(CallWith("in_side_effect", {Value::String("x")}), &host_), 50u);
  EXPECT_EQ(CallsOf(CallWith("in_side_effect", {Value::String("x")}), &host_), 1u);
}

TEST_F(SpilledBagTest, AValueTakesItInSlices) {
  ByBarrier();
  plan::Expr expr;
  expr.add_nodes()->set_constant(EncodeValue(Value::String("x")));
  expr.add_nodes()->set_constant(EncodeValue(Value::Bool(false)));
  plan::Expr::Call* call = expr.add_nodes()->mutable_call();
  call->set_function("side_effect");
  call->add_args(0);
  call->add_args(1);
  EXPECT_GT(CallsOf(expr, &host_), 50u);
  EXPECT_EQ(CallsOf(expr, &host_), 1u);
}

TEST_F(SpilledBagTest, ComesBackAsAValue) {
  ByBarrier();
  SideEffects& effects = host_.side_effects();
  EXPECT_EQ(effects.Read("x").status().code(), StatusCode::kResourceExhausted);
  host_.limit = INT64_MAX;
  const Value bag = *effects.Read("x");
  ASSERT_EQ(bag.AsList().size(), kMembers);
  for (size_t i = 0; i < kMembers; ++i) ASSERT_TRUE(Equivalent(bag.AsList()[i], Member(i)));
  EXPECT_GT(host_.charged, static_cast<int64_t>(bag.ByteSize()) * 9 / 10);
  EXPECT_LT(host_.charged, static_cast<int64_t>(bag.ByteSize()) * 11 / 10);
}

TEST_F(SpilledBagTest, GrowsAgainInSlicesOnceItWasRead) {
  ByBarrier();
  host_.limit = INT64_MAX;
  Value list = *host_.side_effects().Read("x");
  const int64_t charged = host_.charged;
  plan::Aggregate op = AggregateInto("x", 0);
  op.set_each(true);
  auto bundle = MakeAggregate(op, 1, &host_);
  ASSERT_TRUE(bundle.ok());
  const Batch input = Rows({Member(kMembers)});
  OpOutput output;
  size_t calls = 0;
  for (bool done = false; !done; ++calls) {
    ASSERT_TRUE(bundle->stream->Process(input, &output, &done).ok());
    EXPECT_TRUE(done || host_.side_effects().Read("x")->AsList().size() == kMembers);
  }
  EXPECT_GE(calls, kMembers / 4096);
  EXPECT_LT(host_.charged, charged * 11 / 10);  // the list's room is given back
  EXPECT_EQ(list.AsList().size(), kMembers);
  list = Value();
  const Value grown = *host_.side_effects().Read("x");
  ASSERT_EQ(grown.AsList().size(), kMembers + 1);
  for (size_t i = 0; i <= kMembers; ++i) ASSERT_TRUE(Equivalent(grown.AsList()[i], Member(i)));
}

// Adds to a bag that nobody looks at the charge of.
Status Put(SideEffects* effects, const Value& value, int64_t bulk = 1) {
  TestHost host;
  auto* const bag = effects->Find("x");
  ChargeAhead charge(&host, SideEffects::ChargedFor(bag));
  Value list;
  for (bool can_grow = false; !can_grow;) {
    ASSIGN_OR_RETURN(can_grow, SideEffects::Unshare(bag, &charge, &list));
  }
  return SideEffects::Add(bag, value, bulk, &charge).status();
}

// A bulk of many millions: what changes nothing any more is done, what does goes on step by step.
TEST(SideEffectsTest, AValueOfManyTraversersIsFoldedInCalls) {
  constexpr int64_t kBulk = int64_t{1} << 60;
  const auto begin = [](SideEffects* effects, const char* name, const Value& value) {
    plan::InitialEffect initial;
    initial.set_name("x");
    initial.set_operator_(name);
    initial.set_value(EncodeValue(value));
    return effects->Begin(initial);
  };
  const auto add = [](SideEffects* effects, const Value& value) {
    TestHost host;
    auto* const effect = effects->Find("x");
    ChargeAhead charge(&host, SideEffects::ChargedFor(effect));
    return *SideEffects::Add(effect, value, kBulk, &charge);
  };
  SideEffects most, sum, doubles;
  ASSERT_TRUE(begin(&most, "max", Value::Int(0)).ok());
  EXPECT_EQ(add(&most, Value::Int(7)), kBulk);
  EXPECT_EQ(most.Read("x")->AsInteger(), 7);
  ASSERT_TRUE(begin(&sum, "sum", Value::Long(1)).ok());
  EXPECT_EQ(add(&sum, Value::Long(2)), kBulk);
  EXPECT_EQ(sum.Read("x")->AsInteger(), 2 * kBulk + 1);
  ASSERT_TRUE(begin(&doubles, "sum", Value::Double(0)).ok());
  const int64_t some = add(&doubles, Value::Double(0.5));
  EXPECT_LT(some, 10'000);
  EXPECT_EQ(doubles.Read("x")->AsDouble(), 0.5 * static_cast<double>(some));
}

TEST(SideEffectsTest, MembersEqualAcrossNumberTypes) {
  SideEffects effects;
  ASSERT_TRUE(effects.DeclareBag("x").ok());
  ASSERT_TRUE(Put(&effects, Value::Int(2)).ok());
  ASSERT_TRUE(Put(&effects, StringOf("a")).ok());
  ASSERT_TRUE(Put(&effects, Value::Double(std::numeric_limits<double>::quiet_NaN())).ok());
  EXPECT_TRUE(*effects.Contains(*effects.FindBag("x"), Value::Double(2.0)));
  EXPECT_TRUE(*effects.Contains(*effects.FindBag("x"), StringOf("a")));
  EXPECT_FALSE(*effects.Contains(*effects.FindBag("x"), StringOf("2")));
  EXPECT_FALSE(*effects.Contains(*effects.FindBag("x"),
                                 Value::Double(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_FALSE(effects.FindBag("y").ok());
}

// What is gathered of 3, 5 and 5 where it begins with `value`; nothing: an error.
std::optional<Value> Gathered(const Value& value, const std::string& name) {
  SideEffects effects;
  plan::InitialEffect initial;
  initial.set_name("x");
  initial.set_value(EncodeValue(value));
  initial.set_operator_(name);
  EXPECT_TRUE(effects.Begin(initial).ok());
  EXPECT_TRUE(Equivalent(*effects.Read("x"), value));
  EXPECT_TRUE(effects.DeclareBag("x").ok());
  effects.StartBarrier("x");
  if (!Put(&effects, Value::Int(3)).ok()) return std::nullopt;
  EXPECT_TRUE(Put(&effects, Value::Int(5), 2).ok());
  return *effects.Read("x");
}

TEST(SideEffectsTest, BeginWithAValue) {
  const Value one = Value::Int(1), three = Value::Int(3), five = Value::Int(5);
  const auto list = [](ValueList members) { return *Value::List(std::move(members)); };
  const auto is = [](const std::optional<Value>& value, const Value& wanted) {
    return value.has_value() && Equivalent(*value, wanted);
  };
  EXPECT_TRUE(is(Gathered(one, "sum"), Value::Int(14)));
  EXPECT_TRUE(is(Gathered(one, "minus"), Value::Int(-12)));
  EXPECT_TRUE(is(Gathered(one, "max"), five));
  EXPECT_TRUE(is(Gathered(one, "assign"), list({three, five, five})));
  EXPECT_TRUE(is(Gathered(list({one}), ""), list({one, three, five, five})));
  EXPECT_TRUE(is(Gathered(list({one}), "addAll"), list({one, three, five, five})));
  EXPECT_TRUE(is(Gathered(list({one}), "assign"), list({three, five, five})));
  EXPECT_TRUE(is(Gathered(*MakeSet({three}), ""), *MakeSet({three, five})));
  EXPECT_FALSE(Gathered(one, "").has_value());
  EXPECT_FALSE(Gathered(one, "and").has_value());
}

TEST(SideEffectsTest, AnAssignedBagIsThatOfTheLastBarrier) {
  TestHost host;
  SideEffects effects;
  effects.ChargeTo(&host);
  plan::InitialEffect initial;
  initial.set_name("x");
  initial.set_value(EncodeValue(Value::Int(1)));
  initial.set_operator_("assign");
  ASSERT_TRUE(effects.Begin(initial).ok());
  EXPECT_FALSE(effects.FindBag("x").ok());
  EXPECT_EQ(effects.StartBarrier("x"), 0);
  ASSERT_TRUE(Put(&effects, Value::Int(2)).ok());
  const int64_t bytes = *SideEffects::ChargedFor(effects.Find("x"));
  EXPECT_GT(bytes, 0);
  EXPECT_TRUE(*effects.Contains(*effects.FindBag("x"), Value::Int(2)));
  // What was made to tell members goes with them.
  EXPECT_GT(host.charged, 0);
  EXPECT_EQ(effects.StartBarrier("x"), bytes + std::exchange(host.charged, 0));
  EXPECT_EQ(effects.Read("x")->AsList().size(), 0u);
  ASSERT_TRUE(Put(&effects, Value::Int(3)).ok());
  EXPECT_TRUE(*effects.Contains(*effects.FindBag("x"), Value::Int(3)));
  const int64_t bag = *SideEffects::ChargedFor(effects.Find("x"));
  EXPECT_EQ(effects.StartBarrier("x"), bag + host.charged);
}

// A bag of many becomes one list over several calls: in between it is asked and added to.
TEST(SideEffectsTest, ALongBagBecomesAListInShares) {
  TestHost host;
  SideEffects effects;
  effects.ChargeTo(&host);
  ASSERT_TRUE(effects.DeclareBag("x").ok());
  constexpr int64_t kMany = 50'000;
  for (int64_t i = 0; i < kMany; ++i) ASSERT_TRUE(Put(&effects, Value::Long(i)).ok());
  ASSERT_FALSE(*effects.MakeWhole("x"));
  for (int64_t i : {int64_t{0}, int64_t{4096}, kMany - 1}) {
    EXPECT_TRUE(*effects.Contains(*effects.FindBag("x"), Value::Long(i))) << i;
  }
  ASSERT_FALSE(*effects.MakeWhole("x"));
  ASSERT_TRUE(Put(&effects, Value::Long(kMany)).ok());
  int64_t given = 0;
  size_t next = 0;
  for (bool done = false; !done;) {
    Batch output;
    ASSERT_TRUE(
        effects.GiveMembers("x", /*takes=*/false, &next, &output, &done, UnlimitedAccount()).ok());
    for (const int64_t member : output.slots[0].longs()) ASSERT_EQ(member, given++);
  }
  EXPECT_EQ(given, kMany + 1);
  const Value list = *effects.Read("x");
  ASSERT_EQ(list.AsList().size(), static_cast<size_t>(kMany) + 1);
  for (int64_t i = 0; i <= kMany; ++i) ASSERT_EQ(list.AsList()[i].AsInteger(), i);
  EXPECT_EQ(list.FlatBytes(), Value::List(list.AsList())->FlatBytes());
  // Whoever has the list keeps it as it is.
  ASSERT_TRUE(Put(&effects, Value::Long(-1)).ok());
  EXPECT_EQ(effects.Read("x")->AsList().size(), static_cast<size_t>(kMany) + 2);
  EXPECT_EQ(list.AsList().size(), static_cast<size_t>(kMany) + 1);
}

// Groups become one map over several calls, which is charged, and is there until the next is added.
TEST(SideEffectsTest, ManyGroupsBecomeAMapInShares) {
  TestHost host;
  SideEffects effects;
  effects.ChargeTo(&host);
  ASSERT_TRUE(effects.DeclareGroup("m", plan::Group::COUNT).ok());
  const auto add = [&effects](int32_t key) {
    ChargeAhead charge(UnlimitedAccount(), SideEffects::ChargedFor(effects.Find("m")));
    return effects.Group("m")->Add(Value::Int(key), std::nullopt, 1, &charge);
  };
  constexpr int32_t kMany = 20'000;
  for (int32_t i = 0; i < kMany; ++i) ASSERT_TRUE(add(i).ok());
  ASSERT_FALSE(*effects.MakeWhole("m"));
  EXPECT_GE(host.charged, int64_t{kMany} * 2 * static_cast<int64_t>(sizeof(Value)));
  ASSERT_TRUE(add(kMany).ok());
  EXPECT_EQ(host.charged, 0);
  int calls = 1;
  while (!*effects.MakeWhole("m")) ++calls;
  EXPECT_GE(calls, 4);
  const int64_t charged = host.charged;
  const Value map = *effects.Read("m");
  ASSERT_EQ(map.AsMap().size(), static_cast<size_t>(kMany) + 1);
  for (int32_t i = 0; i <= kMany; ++i) ASSERT_EQ(map.AsMap()[i].first.AsInteger(), i);
  EXPECT_EQ(map.FlatBytes(), Value::Map(map.AsMap())->FlatBytes());
  EXPECT_TRUE(effects.Read("m")->SharesWith(map));
  EXPECT_EQ(host.charged, charged);
  ASSERT_TRUE(add(7).ok());
  EXPECT_EQ(host.charged, 0);
  EXPECT_EQ(effects.Read("m")->AsMap()[7].second.AsInteger(), 2);
  EXPECT_EQ(map.AsMap()[7].second.AsInteger(), 1);
  ASSERT_TRUE(add(7).ok());
  host.limit = 1000;
  EXPECT_EQ(effects.Read("m").status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(host.charged, 0);
}

TEST(SideEffectsTest, ANameIsFilledInOneWay) {
  SideEffects effects;
  ASSERT_TRUE(effects.DeclareBag("x").ok());
  EXPECT_EQ(effects.DeclareGroup("x", plan::Group::COUNT).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(effects.DeclareGroup("m", plan::Group::COUNT).ok());
  ASSERT_TRUE(effects.DeclareGroup("m", plan::Group::COUNT).ok());
  EXPECT_FALSE(effects.DeclareGroup("m", plan::Group::LIST).ok());
  EXPECT_FALSE(effects.DeclareBag("m").ok());
}

plan::Group GroupOf(plan::Group::Value kind) {
  plan::Group op;
  op.set_key_slot(1);
  op.set_value_slot(0);
  op.set_value(kind);
  return op;
}

TEST(GroupTest, SideEffectKeepsRowsAndCapGivesTheMap) {
  TestHost host;
  plan::Group op = GroupOf(plan::Group::COUNT);
  op.set_side_effect("m");
  const auto group = MakeGroupEffect(op, 2, &host);
  ASSERT_TRUE(group.ok());
  const Batch rows = Rows({Value::Int(1), Value::Int(2), Value::Int(3)},
                          {StringOf("a"), StringOf("b"), StringOf("a")}, {2, 1, 1});
  ASSERT_TRUE(group->barrier->Absorb(rows).ok());
  EXPECT_EQ(FireAll(group->barrier.get()).rows, 3u);
  plan::Cap cap;
  cap.add_names("m");
  const Value map = MapOf({{StringOf("a"), Value::Long(3)}, {StringOf("b"), Value::Long(1)}});
  EXPECT_SAME(FireAll(MakeCap(cap, 2, &host)->barrier.get()).slots[0].Get(0), map);
  ASSERT_TRUE(host.side_effects().DeclareBag("x").ok());
  cap.add_names("x");
  EXPECT_SAME(FireAll(MakeCap(cap, 2, &host)->barrier.get()).slots[0].Get(0),
              MapOf({{StringOf("m"), map}, {StringOf("x"), ListOf({})}}));
}

TEST(AggregateTest, EachAddsAsItPasses) {
  TestHost host;
  plan::Aggregate op = AggregateInto("x", 1);
  op.set_each(true);
  const auto bundle = MakeAggregate(op, 2, &host);
  ASSERT_TRUE(bundle.ok());
  const Batch rows = Rows({Value::Int(1), Value::Int(2)}, {StringOf("a"), StringOf("b")}, {2, 1});
  OpOutput output;
  bool done = false;
  ASSERT_TRUE(bundle->stream->Process(rows, &output, &done).ok());
  EXPECT_TRUE(done && output.identity);
  EXPECT_SAME(*host.side_effects().Read("x"),
              ListOf({StringOf("a"), StringOf("a"), StringOf("b")}));
  const int64_t kept = host.charged;
  EXPECT_GT(kept, 0);
  host.limit = kept;
  EXPECT_FALSE(bundle->stream->Process(rows, &output, &done).ok());
}

// What a worker has of a bag or of groups, over as many batches as it takes; and nothing of what no
// row has come to.
TEST(CapTest, GivesShares) {
  TestHost host;
  plan::Cap cap;
  cap.add_names("x");
  cap.set_stage(plan::PARTIAL);
  EXPECT_FALSE(MakeCap(cap, 2, &host)->barrier->Fire({}, nullptr, nullptr).ok());
  const auto bundle = MakeAggregate(AggregateInto("x", 0), 2, &host);
  EXPECT_EQ(FireAll(MakeCap(cap, 2, &host)->barrier.get()).rows, 0u);
  constexpr int kMembers = 3000;
  for (int i = 0; i < kMembers; ++i) {
    ASSERT_TRUE(bundle->barrier->Absorb(Rows({Value::Int(i)})).ok());
  }
  FireAll(bundle->barrier.get());
  const Batch members = FireAll(MakeCap(cap, 2, &host)->barrier.get());
  ASSERT_EQ(members.rows, static_cast<size_t>(kMembers));
  EXPECT_SAME(members.slots[0].Get(kMembers - 1), Value::Int(kMembers - 1));
  plan::Group op = GroupOf(plan::Group::COUNT);
  op.set_side_effect("m");
  const auto group = MakeGroupEffect(op, 2, &host);
  ASSERT_TRUE(
      group->barrier
          ->Absorb(Rows({Value::Int(1), Value::Int(2)}, {StringOf("a"), StringOf("b")}, {2, 1}))
          .ok());
  FireAll(group->barrier.get());
  cap.set_names(0, "m");
  cap.set_key_slot(1);
  const Batch groups = FireAll(MakeCap(cap, 2, &host)->barrier.get());
  ASSERT_EQ(groups.rows, 2u);
  EXPECT_SAME(groups.slots[1].Get(0), StringOf("a"));
  EXPECT_SAME(groups.slots[0].Get(0), Value::Long(2));
  cap.set_key_slot(7);
  EXPECT_FALSE(MakeCap(cap, 2, &host).ok());
}

// A row of a million traversers is a million values, some in each call.
TEST(BulkTest, ManyCopiesAreAddedInSlices) {
  constexpr int64_t kMany = 1'000'000;
  const Batch rows =
      Rows({Value::Int(7), Value::Int(8)}, {Value::Int(1), Value::Int(1)}, {kMany, 2});
  TestHost host;
  const auto bag = MakeAggregate(AggregateInto("x", 0), 2, &host);
  ASSERT_TRUE(bag->barrier->Absorb(rows).ok());
  size_t calls = 0;
  for (bool done = false; !done; ++calls) {
    Batch batch;
    ASSERT_TRUE(bag->barrier->Fire({}, &batch, &done).ok());
  }
  EXPECT_GT(calls, 50u);
  EXPECT_EQ(host.side_effects().Read("x")->AsList().size(), static_cast<size_t>(kMany) + 2);

  const auto is_whole = [](const Value& value) {
    const ValueList& list = value.AsList();
    return list.size() == kMany + 2 && list[kMany - 1].AsInteger() == 7 &&
           list[kMany].AsInteger() == 8;
  };
  const auto group = MakeGroup(GroupOf(plan::Group::LIST), 2, &host);
  plan::Reduce fold;
  fold.set_function(plan::Reduce::FOLD);
  const auto list = MakeReduce(fold, &host);
  for (BarrierOperator* const barrier : {group->barrier.get(), list->barrier.get()}) {
    ASSERT_TRUE(barrier->Absorb(rows).ok());
    calls = 1;
    while (*barrier->Proceed(rows)) ++calls;
    EXPECT_GT(calls, 5u);
    calls = 0;
    Value value;
    for (bool done = false; !done; ++calls) {
      Batch batch;
      ASSERT_TRUE(barrier->Fire({}, &batch, &done).ok());
      if (batch.rows > 0) value = batch.slots[0].Get(0);
    }
    EXPECT_GT(calls, 5u);
    EXPECT_TRUE(is_whole(value.kind() == ValueKind::kMap ? value.AsMap()[0].second : value));
  }
}

TEST(GroupTest, RowsGiveOneRowPerGroupOverManyCalls) {
  TestHost host;
  plan::Group op = GroupOf(plan::Group::LIST);
  op.set_rows(true);
  const auto group = MakeGroup(op, 2, &host);
  ASSERT_TRUE(group.ok());
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(
        AbsorbAll(group->barrier.get(), Rows({Value::Int(i)}, {Value::Int(i % 1500)})).ok());
  }
  const Batch out = FireAll(group->barrier.get());
  ASSERT_EQ(out.rows, 1500u);
  EXPECT_SAME(out.slots[1].Get(7), Value::Int(7));
  EXPECT_SAME(out.slots[0].Get(7), ListOf({Value::Int(7), Value::Int(1507)}));
  EXPECT_EQ(host.charged, 0);
}

TEST(GroupTest, RowsOfNothingAreNoRows) {
  TestHost host;
  plan::Group op = GroupOf(plan::Group::LIST);
  op.set_rows(true);
  EXPECT_EQ(FireAll(MakeGroup(op, 2, &host)->barrier.get()).rows, 0u);
  op.set_key_slot(0);
  EXPECT_FALSE(MakeGroup(op, 2, &host).ok());
}

// Nesting past the bound is an error where it is gathered, not a broken invariant where it is read.
TEST(GroupTest, ValuesAsDeepAsCanBeAreRefused) {
  Value deep = Value::Int(1);
  while (deep.depth() < kMaxValueDepth) deep = ListOf({deep});
  TestHost host;
  plan::Group op;
  op.set_value_slot(1);
  op.set_value(plan::Group::LIST);
  EXPECT_EQ(AbsorbAll(MakeGroup(op, 2, &host)->barrier.get(), Rows({Value::Int(1)}, {deep})).code(),
            StatusCode::kResourceExhausted);
  const auto bag = MakeAggregate(AggregateInto("x", 0), 2, &host);
  ASSERT_TRUE(bag->barrier->Absorb(Rows({deep})).ok());
  Batch out;
  bool done = false;
  EXPECT_EQ(bag->barrier->Fire({}, &out, &done).code(), StatusCode::kResourceExhausted);
}

// One call of a function over slot 0 and a constant, as a filter.
StatusOr<OperatorBundle> FilterBy(const char* function, const Value& constant, bool of_current,
                                  TestHost* host) {
  plan::Filter op;
  plan::Expr* expr = op.mutable_predicate();
  if (of_current) expr->add_nodes()->set_slot(0);
  expr->add_nodes()->set_constant(EncodeValue(constant));
  plan::Expr::Call* call = expr->add_nodes()->mutable_call();
  call->set_function(function);
  for (int i = 0; i + 1 < expr->nodes_size(); ++i) call->add_args(static_cast<uint32_t>(i));
  return MakeFilter(op, 2, host);
}

TEST(OnceTest, OneTraverserOfTheQueryPasses) {
  TestHost host;
  const auto once = FilterBy("once", StringOf("~i1"), false, &host);
  OpOutput output;
  bool done = false;
  const Batch rows = Rows({Value::Int(1), Value::Int(2)}, {}, {5, 5});
  ASSERT_TRUE(once->stream->Process(rows, &output, &done).ok());
  EXPECT_EQ(output.origin, std::vector<uint32_t>{0});
  EXPECT_EQ(output.bulk, std::vector<int64_t>{1});
  OpOutput again;
  ASSERT_TRUE(once->stream->Process(rows, &again, &done).ok());
  EXPECT_TRUE(again.origin.empty());
}

TEST(InSideEffectTest, FiltersByWhatIsThereByNow) {
  TestHost host;
  ASSERT_TRUE(host.side_effects().DeclareBag("x").ok());
  const auto within = FilterBy("in_side_effect", StringOf("x"), true, &host);
  ASSERT_TRUE(within.ok());
  bool done = false;
  OpOutput before, behind;
  const Batch rows = Rows({Value::Int(1), Value::Int(2)});
  ASSERT_TRUE(within->stream->Process(rows, &before, &done).ok());
  EXPECT_TRUE(before.origin.empty());
  ASSERT_TRUE(Put(&host.side_effects(), Value::Long(2)).ok());
  ASSERT_TRUE(within->stream->Process(rows, &behind, &done).ok());
  EXPECT_EQ(behind.origin, std::vector<uint32_t>{1});
}

}  // namespace
}  // namespace koios::engine
