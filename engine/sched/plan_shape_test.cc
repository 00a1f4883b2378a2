#include "engine/sched/plan_shape.h"

#include "gtest/gtest.h"

namespace koios::engine {
namespace {

// inject().repeat(exchange).times(..), and an exchange behind it.
plan::Plan LoopPlan() {
  plan::Plan plan;
  plan.set_num_slots(1);
  for (uint32_t id = 0; id < 8; ++id) {
    plan::Operator* op = plan.add_operators();
    op->set_id(id);
    if (id < 7 && id != 4) op->add_next(id + 1);
    if (id >= 2 && id <= 4) op->set_loop(2);
  }
  plan.mutable_operators(0)->mutable_inject();
  plan.mutable_operators(1)->mutable_loop_enter();
  plan.mutable_operators(2)->mutable_exchange();
  plan.mutable_operators(3)->mutable_split()->set_copy(true);
  plan.mutable_operators(3)->add_next(5);
  plan.mutable_operators(4)->mutable_loop_back()->set_enter(1);
  plan.mutable_operators(4)->add_next(2);
  plan.mutable_operators(5)->mutable_loop_exit()->set_enter(1);
  plan.mutable_operators(6)->mutable_exchange();
  plan.mutable_operators(7)->mutable_sink();
  return plan;
}

// From the source to the sink, all of an iteration before the next one, each is deeper.
TEST(PlanShapeTest, DepthsAreInTheOrderOfTheWay) {
  const auto shape = PlanShape::Make(LoopPlan());
  ASSERT_TRUE(shape.ok()) << shape.status();
  const PlanShape& plan = **shape;
  const std::vector<Depth> way = {
      plan.DepthOf(0, {}),   plan.DepthOf(1, {}),  plan.DepthOf(2, {0}), plan.DepthOf(3, {0}),
      plan.DepthOf(4, {0}),  plan.DepthOf(2, {1}), plan.DepthOf(3, {1}), plan.DepthOf(2, {10}),
      plan.DepthOf(4, {10}), plan.DepthOf(5, {0}), plan.DepthOf(5, {3}), plan.DepthOf(6, {}),
      plan.DepthOf(7, {})};
  for (size_t i = 1; i < way.size(); ++i) EXPECT_LT(way[i - 1], way[i]) << i;
}

// What comes from outside may name any iteration.
TEST(PlanShapeTest, DepthsOfIterationsThatAreNoneDiffer) {
  const auto shape = PlanShape::Make(LoopPlan());
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_NE((*shape)->DepthOf(2, {}), (*shape)->DepthOf(2, {1}));
  EXPECT_NE((*shape)->DepthOf(2, {1, 2}), (*shape)->DepthOf(2, {1}));
  EXPECT_NE((*shape)->DepthOf(6, {1, 2}), (*shape)->DepthOf(6, {}));
}

// A dedup() whose rows may rest fires behind what leads to it and before what it leads to, but is
// nothing that a row is bound to meet.
TEST(PlanShapeTest, WhatMayRestIsReachedAsABarrierIs) {
  plan::Plan made;
  made.set_num_slots(1);
  for (uint32_t id = 0; id < 5; ++id) {
    plan::Operator* op = made.add_operators();
    op->set_id(id);
    if (id < 4) op->add_next(id + 1);
  }
  made.mutable_operators(0)->mutable_inject();
  made.mutable_operators(1)->mutable_barrier();
  made.mutable_operators(2)->mutable_dedup()->add_key_slots(0);
  made.mutable_operators(3)->mutable_barrier();
  made.mutable_operators(4)->mutable_sink();
  const auto shape = PlanShape::Make(made);
  ASSERT_TRUE(shape.ok()) << shape.status();
  const PlanShape& plan = **shape;
  EXPECT_TRUE(plan.Reaches({1, {}}, {2, {}}));
  EXPECT_TRUE(plan.Reaches({2, {}}, {3, {}}));
  EXPECT_FALSE(plan.Reaches({2, {}}, {1, {}}));
  EXPECT_FALSE(plan.Reaches({3, {}}, {2, {}}));
  EXPECT_EQ(plan.NextBarrier(1), 3u);
  EXPECT_EQ(plan.NextBarrier(2), 3u);
}

}  // namespace
}  // namespace koios::engine
