#include "engine/op/sack_barrier.h"

#include "core/value_codec.h"
#include "core/value_compare.h"
#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

struct Out {
  Value current;
  Value sack;
  int64_t bulk = 1;
};

plan::Sacks SacksFrom(const Value& initial, const std::string& name) {
  plan::Sacks op;
  op.set_slot(1);
  op.set_initial(EncodeValue(initial));
  op.set_operator_(name);
  return op;
}

// What comes of the batches of the root instance.
std::vector<Out> Through(const plan::Sacks& op, const std::vector<Batch>& batches) {
  TestHost host;
  StatusOr<OperatorBundle> bundle = MakeSackBarrier(op, 2, &host);
  EXPECT_TRUE(bundle.ok());
  for (const Batch& batch : batches) EXPECT_TRUE(bundle->barrier->Absorb(batch).ok());
  std::vector<Out> rows;
  for (bool done = false; !done;) {
    Batch output;
    output.slots.resize(2);
    EXPECT_TRUE(bundle->barrier->Fire({}, &output, &done).ok());
    for (size_t row = 0; row < output.rows; ++row) {
      rows.push_back({output.slots[0].Get(row), output.slots[1].Get(row), output.BulkAt(row)});
    }
  }
  EXPECT_EQ(host.charged, 0);
  return rows;
}

const Value kOne = Value::Int(1), kTwo = Value::Int(2), kSix = Value::Int(6);

TEST(SackBarrierTest, EqualRowsBecomeOneAndTheirSacksAreAdded) {
  const std::vector<Out> rows =
      Through(SacksFrom(kOne, "sum"), {Rows({kOne, kTwo, kOne}, {kTwo, kSix, kSix}, {1, 1, 3}),
                                       Rows({kOne, kTwo})});  // without sacks: the initial ones
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(Equivalent(rows[0].current, kOne));
  EXPECT_TRUE(Equivalent(rows[0].sack, Value::Int(9)));  // a row of bulk 3 adds its sack once
  EXPECT_EQ(rows[0].bulk, 5);
  EXPECT_TRUE(Equivalent(rows[1].sack, Value::Int(7)));
  EXPECT_EQ(rows[1].bulk, 2);
}

TEST(SackBarrierTest, TheOperatorsOrderIsThatOfTheRows) {
  const std::vector<Out> rows =
      Through(SacksFrom(Value(), "minus"), {Rows({kOne, kOne, kOne}, {kSix, kTwo, kOne})});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(Equivalent(rows[0].sack, Value::Int(3)));
}

TEST(SackBarrierTest, OneBulkCountsAsOne) {
  plan::Sacks op = SacksFrom(kOne, "sum");
  op.set_one_bulk(true);
  const std::vector<Out> rows = Through(op, {Rows({kOne, kOne, kTwo})});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(Equivalent(rows[0].sack, kTwo));
  EXPECT_EQ(rows[0].bulk, 1);
}

TEST(SackBarrierTest, WithoutAnOperatorOnlyThoseWithoutASackBecomeOne) {
  EXPECT_EQ(Through(SacksFrom(kOne, ""), {Rows({kOne, kOne})}).size(), 2u);
  plan::Sacks op = SacksFrom(Value(), "");
  EXPECT_EQ(Through(op, {Rows({kOne, kOne})}).size(), 2u);
  op.set_one_bulk(true);
  EXPECT_EQ(Through(op, {Rows({kOne, kOne})}).size(), 1u);
  EXPECT_EQ(Through(op, {Rows({kOne, kOne}, {kTwo, kTwo})}).size(), 2u);
}

TEST(SackBarrierTest, SharesAreWeighedByBulks) {
  plan::Sacks op = SacksFrom(kOne, "");
  op.set_normalise(true);
  const std::vector<Out> rows = Through(op, {Rows({kOne, kTwo}, {kTwo, kTwo}, {3, 1})});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(Equivalent(rows[0].sack, Value::Double(0.75)));
  EXPECT_TRUE(Equivalent(rows[1].sack, Value::Double(0.25)));
  EXPECT_EQ(rows[0].bulk, 3);
  TestHost host;
  StatusOr<OperatorBundle> bundle = MakeSackBarrier(op, 2, &host);
  ASSERT_TRUE(bundle->barrier->Absorb(Rows({kOne}, {Value::String("a")})).ok());
  Batch output;
  bool done = false;
  EXPECT_EQ(bundle->barrier->Fire({}, &output, &done).code(), StatusCode::kInvalidArgument);
}

TEST(SackBarrierTest, ManyRowsComeInBatches) {
  std::vector<Value> many;
  for (int32_t i = 0; i < 3000; ++i) many.push_back(Value::Int(i % 1500));
  const std::vector<Out> rows = Through(SacksFrom(kOne, "sum"), {Rows(many)});
  ASSERT_EQ(rows.size(), 1500u);
  for (const Out& row : rows) EXPECT_EQ(row.bulk, 2);
}

TEST(SackBarrierTest, ChargesWhatItKeeps) {
  TestHost host;
  StatusOr<OperatorBundle> bundle = MakeSackBarrier(SacksFrom(kOne, "sum"), 2, &host);
  ASSERT_TRUE(bundle->barrier->Absorb(Rows({kOne, kTwo})).ok());
  EXPECT_GT(host.charged, 0);
  bundle->barrier->Release({});
  EXPECT_EQ(host.charged, 0);
  host.limit = 10;
  EXPECT_EQ(bundle->barrier->Absorb(Rows({kOne})).code(), StatusCode::kResourceExhausted);
}

TEST(SackBarrierTest, RefusesDamagedPlans) {
  TestHost host;
  const auto code = [&host](const plan::Sacks& op) {
    return MakeSackBarrier(op, 2, &host).status().code();
  };
  plan::Sacks op = SacksFrom(kOne, "sum");
  op.set_slot(7);
  EXPECT_EQ(code(op), StatusCode::kInternal);
  EXPECT_EQ(code(SacksFrom(kOne, "noSuch")), StatusCode::kInternal);
  op = SacksFrom(kOne, "sum");
  op.set_initial("damage");
  EXPECT_NE(code(op), StatusCode::kOk);
}

}  // namespace
}  // namespace koios::engine
