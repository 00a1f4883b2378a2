// cap(): what it takes when nobody else asks, and what a firing leaves.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "engine/op/effect_ops.h"
#include "engine/op/op_test_support.h"

namespace koios::engine {
namespace {

plan::Aggregate BagOfX() {
  plan::Aggregate op;
  op.set_name("x");
  return op;
}

plan::Group GroupsInM(plan::Group::Value value) {
  plan::Group op;
  op.set_key_slot(1);
  op.set_value(value);
  return op;
}

// What nobody else asks for is given away, and is not charged beside what was given.
class TakingCapTest : public ::testing::TestWithParam<bool> {  // a share, or all of it
 protected:
  void ExpectTaken(const OperatorBundle& barrier, const char* name, size_t members) {
    plan::Cap cap;
    cap.add_names(name);
    cap.set_takes(true);
    if (GetParam()) cap.set_stage(plan::PARTIAL);
    cap.set_key_slot(GetParam() ? 1 : 0);
    FireAll(barrier.barrier.get());
    const int64_t gathered = host_.charged;
    const OperatorBundle taker = *MakeCap(cap, 2, &host_);
    size_t given = 0, calls = 0;
    int64_t most = 0;
    for (bool done = false; !done; ++calls) {
      Batch batch;
      ASSERT_TRUE(taker.barrier->Fire({}, &batch, &done).ok());
      most = std::max(most, host_.charged);
      given += GetParam() || batch.rows == 0 ? batch.rows : MembersOf(batch.slots[0].Get(0));
    }
    EXPECT_EQ(given, members);
    EXPECT_GT(calls, 3u);
    EXPECT_EQ(host_.charged, 0);
    EXPECT_LT(most, gathered * 21 / 10);  // as pages become one list
  }
  static size_t MembersOf(const Value& value) {
    return value.kind() == ValueKind::kMap ? value.AsMap().size() : value.AsList().size();
  }

  TestHost host_;
};

TEST_P(TakingCapTest, OfABag) {
  host_.side_effects().ChargeTo(&host_);
  const auto bag = MakeAggregate(BagOfX(), 2, &host_);
  constexpr size_t kBatches = 50;
  for (size_t i = 0; i < kBatches; ++i) {
    const Value text = Value::String("a text of batch " + std::to_string(i));
    ASSERT_TRUE(bag->barrier->Absorb(Rows(ValueList(kBatchRows, text))).ok());
  }
  ExpectTaken(*bag, "x", kBatches * kBatchRows);
}

TEST_P(TakingCapTest, OfGroups) {
  plan::Group op = GroupsInM(plan::Group::LIST);
  op.set_side_effect("m");
  const auto group = MakeGroupEffect(op, 2, &host_);
  constexpr int32_t kGroups = 20'000;
  for (int32_t i = 0; i < kGroups; i += 1000) {
    ValueList values, keys;
    for (int32_t key = i; key < i + 1000; ++key) {
      values.push_back(Value::String("a text that has a place of its own"));
      keys.push_back(Value::Int(key));
    }
    // One group is long.
    ASSERT_TRUE(group->barrier->Absorb(Rows(values, keys)).ok());
    ASSERT_TRUE(group->barrier->Absorb(Rows(values, ValueList(1000, Value::Int(0)))).ok());
  }
  ExpectTaken(*group, "m", kGroups);
}

INSTANTIATE_TEST_SUITE_P(Stages, TakingCapTest, ::testing::Bool());

// What is being given away does not go to disk: some of it is there no more.
TEST(CapOpTest, WhatIsBeingTakenIsNotSpilled) {
  TestHost host;
  const auto bag = MakeAggregate(BagOfX(), 2, &host);
  constexpr size_t kBatches = 12;
  for (size_t i = 0; i < kBatches; ++i) {
    ASSERT_TRUE(bag->barrier->Absorb(Rows(ValueList(kBatchRows, Value::Int(1)))).ok());
  }
  FireAll(bag->barrier.get());
  EXPECT_GT(bag->barrier->SpillableBytes(), 0);
  plan::Cap cap;
  cap.add_names("x");
  cap.set_takes(true);
  cap.set_stage(plan::PARTIAL);
  const OperatorBundle taker = *MakeCap(cap, 2, &host);
  size_t given = 0;
  for (bool done = false; !done;) {
    Batch batch;
    ASSERT_TRUE(taker.barrier->Fire({}, &batch, &done).ok());
    given += batch.rows;
    EXPECT_EQ(bag->barrier->SpillableBytes(), 0);
  }
  EXPECT_EQ(given, kBatches * kBatchRows);
}

// A firing that was closed before it was through leaves nothing to the next one.
TEST(CapOpTest, AClosedFiringLeavesNothing) {
  for (const bool is_told : {false, true}) {
    TestHost host;
    host.side_effects().ChargeTo(&host);
    const auto bag = MakeAggregate(BagOfX(), 2, &host);
    plan::Group op = GroupsInM(plan::Group::COUNT);
    op.set_side_effect("m");
    const auto group = MakeGroupEffect(op, 2, &host);
    const auto gather = [&](int32_t begin) {
      ValueList values;
      for (int32_t i = begin; i < begin + 10'000; ++i) values.push_back(Value::Int(i));
      ASSERT_TRUE(group->barrier->Absorb(Rows(values, values)).ok());
      FireAll(group->barrier.get());
    };
    gather(0);
    plan::Cap cap;
    cap.add_names("x");
    cap.add_names("m");
    const OperatorBundle caps = *MakeCap(cap, 2, &host);
    Batch none;
    bool done = false;
    ASSERT_TRUE(caps.barrier->Fire({InstanceId{1, 0}, {}}, &none, &done).ok());
    EXPECT_FALSE(done);
    const int64_t making = host.charged;
    if (is_told) {
      caps.barrier->Release(InstanceId{1, 0});
      EXPECT_LT(host.charged, making);
    }
    ASSERT_TRUE(bag->barrier->Absorb(Rows({Value::Int(1)})).ok());
    FireAll(bag->barrier.get());
    gather(10'000);
    const int64_t before = host.charged;
    const Batch out = FireAll(caps.barrier.get(), {InstanceId{2, 0}, {}});
    EXPECT_LE(host.charged, before);
    const Value value = out.slots[0].Get(0);
    EXPECT_EQ(value.AsMap()[0].second.AsList().size(), 1u);
    EXPECT_EQ(value.AsMap()[1].second.AsMap().size(), 20'000u);
  }
}

}  // namespace
}  // namespace koios::engine
