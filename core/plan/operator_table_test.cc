#include "core/plan/operator_table.h"

#include "gtest/gtest.h"

namespace koios::plan {
namespace {

// One operator of each kind, with nothing in its message.
std::vector<Operator> OneOfEach() {
  std::vector<Operator> all;
  const auto* kinds = Operator::descriptor()->FindOneofByName("kind");
  for (int i = 0; i < kinds->field_count(); ++i) {
    Operator op;
    op.GetReflection()->MutableMessage(&op, kinds->field(i));
    all.push_back(std::move(op));
  }
  return all;
}

TEST(OperatorTableTest, EachKindOfThePlanHasARow) {
  for (const Operator& op : OneOfEach()) {
    EXPECT_TRUE(IsKnown(op)) << NameOf(op) << " needs a row in operator_table.cc";
  }
  EXPECT_FALSE(IsKnown(Operator()));
  EXPECT_EQ(NameOf(Operator()), "?");
}

TEST(OperatorTableTest, WhatWaitsOrBeginsAnewNumbersNoRows) {
  for (const Operator& op : OneOfEach()) {
    SCOPED_TRACE(NameOf(op));
    if (IsBarrier(op)) {
      EXPECT_TRUE(KeepsState(op));
      EXPECT_FALSE(AppendsOrdinals(op));
    }
    if (MakesNewRows(op)) {
      EXPECT_FALSE(AppendsOrdinals(op));
    }
  }
}

TEST(OperatorTableTest, FieldsDecide) {
  Operator op;
  op.mutable_aggregate()->set_value_slot(3);
  EXPECT_TRUE(IsBarrier(op));
  op.mutable_aggregate()->set_distinct(true);
  EXPECT_FALSE(IsBarrier(op));
  EXPECT_TRUE(HasEffect(op));
  EXPECT_EQ(SlotsOf(op).read, std::vector<uint32_t>{3});

  EXPECT_FALSE(FiresEverywhere(op));
  op.mutable_cap();
  EXPECT_FALSE(FiresEverywhere(op));
  op.mutable_cap()->set_stage(PARTIAL);
  EXPECT_TRUE(FiresEverywhere(op));

  op.mutable_group()->set_key_slot(2);
  op.mutable_group()->set_rows(true);
  EXPECT_TRUE(MakesNewRows(op));
  EXPECT_EQ(SlotsOf(op).kept, 2u);
  op.mutable_group()->set_side_effect("x");
  EXPECT_FALSE(MakesNewRows(op));
  EXPECT_TRUE(HasEffect(op));

  op.mutable_reduce()->set_stage(PARTIAL);
  EXPECT_FALSE(IsBarrier(op));
  EXPECT_TRUE(SlotsOf(op).needed.empty());
  op.mutable_reduce()->set_function(Reduce::SUM);
  EXPECT_EQ(SlotsOf(op).needed, std::vector<uint32_t>{0});

  op.mutable_limit()->set_high(-1);
  EXPECT_FALSE(StopsEarly(op));
  op.mutable_limit()->set_high(0);
  EXPECT_TRUE(StopsEarly(op));
  EXPECT_TRUE(KeepsState(op));
  EXPECT_FALSE(IsBarrier(op));
}

TEST(OperatorTableTest, SlotsOfExpressionsAreRead) {
  Operator op;
  op.mutable_add_edge()->mutable_out_vertex()->add_nodes()->set_slot(4);
  op.mutable_add_edge()->mutable_in_vertex()->add_nodes()->set_constant("");
  op.mutable_add_edge()->add_properties()->mutable_value()->add_nodes()->set_slot(5);
  EXPECT_EQ(SlotsOf(op).read, (std::vector<uint32_t>{4, 5}));
  op.mutable_project()->set_slot(6);
  op.mutable_project()->mutable_expr()->add_nodes()->set_slot(7);
  EXPECT_EQ(SlotsOf(op).read, std::vector<uint32_t>{7});
  EXPECT_EQ(SlotsOf(op).written, 6u);
}

}  // namespace
}  // namespace koios::plan
