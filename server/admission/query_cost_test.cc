#include "server/admission/query_cost.h"

#include <gtest/gtest.h>

namespace koios::server {
namespace {

constexpr int64_t kFrame = int64_t{256} << 10;

CostBounds Bounds() {
  CostBounds bounds;
  bounds.num_workers = 2;
  bounds.query_bytes = int64_t{1} << 30;
  bounds.all_bytes = int64_t{4} << 30;
  return bounds;
}

plan::Operator* Add(plan::Plan* plan) { return plan->add_operators(); }

// V(id), out() `hops` times.
plan::Plan LookUp(int hops) {
  plan::Plan plan;
  Add(&plan)->mutable_inject();
  Add(&plan)->mutable_exchange()->set_key(plan::Exchange::ID);
  Add(&plan)->mutable_lookup();
  for (int i = 0; i < hops; ++i) {
    Add(&plan)->mutable_exchange();
    Add(&plan)->mutable_expand();
  }
  Add(&plan)->mutable_sink();
  return plan;
}

// V().has(): so many are expected; 0: nobody knows.
plan::Plan Seek(uint64_t expected) {
  plan::Plan plan;
  Add(&plan)->mutable_partitions();
  plan::Exchange* exchange = Add(&plan)->mutable_exchange();
  exchange->set_key(plan::Exchange::PARTITION);
  exchange->set_expected(expected);
  Add(&plan)->mutable_scan();
  Add(&plan)->mutable_sink();
  return plan;
}

TEST(QueryCostTest, LookUpsOfUpToTwoHopsAreShort) {
  EXPECT_EQ(CostOf(LookUp(0), Bounds()).cost, CostClass::kShort);
  EXPECT_EQ(CostOf(LookUp(2), Bounds()).cost, CostClass::kShort);
  EXPECT_EQ(CostOf(LookUp(3), Bounds()).cost, CostClass::kMedium);
  EXPECT_EQ(CostOf(LookUp(4), Bounds()).cost, CostClass::kLong);
  plan::Plan degrees = LookUp(2);
  for (int i = 0; i < 3; ++i) Add(&degrees)->mutable_expand()->set_to(plan::Expand::DEGREE);
  EXPECT_EQ(CostOf(degrees, Bounds()).cost, CostClass::kShort);
}

TEST(QueryCostTest, ScansAreAsLongAsWhatIsExpectedOfThem) {
  EXPECT_EQ(CostOf(Seek(100), Bounds()).cost, CostClass::kShort);
  EXPECT_EQ(CostOf(Seek(101), Bounds()).cost, CostClass::kMedium);
  EXPECT_EQ(CostOf(Seek(10'001), Bounds()).cost, CostClass::kLong);
  EXPECT_EQ(CostOf(Seek(0), Bounds()).cost, CostClass::kLong);
}

TEST(QueryCostTest, LoopsAndWalksAreNotShort) {
  plan::Plan loop = LookUp(1);
  Add(&loop)->mutable_loop_enter();
  EXPECT_EQ(CostOf(loop, Bounds()).cost, CostClass::kLong);
  plan::Plan walk = LookUp(0);
  Add(&walk)->mutable_shortest_path();
  EXPECT_EQ(CostOf(walk, Bounds()).cost, CostClass::kMedium);
}

// A frame for each exchange, barrier, loop and scope with instances, and one more, at each worker.
TEST(QueryCostTest, TheReserveCountsWhereFramesMayRest) {
  EXPECT_EQ(CostOf(LookUp(2), Bounds()).reserve_bytes, kFrame / 4);
  EXPECT_EQ(CostOf(Seek(0), Bounds()).reserve_bytes, 2 * 2 * kFrame);
  plan::Plan plan = LookUp(4);
  EXPECT_EQ(CostOf(plan, Bounds()).reserve_bytes, 2 * 6 * kFrame);
  Add(&plan)->mutable_scope_enter()->set_in_place(true);
  EXPECT_EQ(CostOf(plan, Bounds()).reserve_bytes, 2 * 6 * kFrame);
  Add(&plan)->mutable_scope_enter();
  Add(&plan)->mutable_order();
  Add(&plan)->mutable_loop_enter();
  EXPECT_EQ(CostOf(plan, Bounds()).reserve_bytes, 2 * 9 * kFrame);
  plan.set_stays_home(true);
  EXPECT_EQ(CostOf(plan, Bounds()).reserve_bytes, 9 * kFrame);
}

TEST(QueryCostTest, TheReserveLeavesRoomForLoansAndForOthers) {
  CostBounds bounds = Bounds();
  bounds.num_workers = 1000;
  EXPECT_EQ(CostOf(LookUp(4), bounds).reserve_bytes, bounds.query_bytes / 2);
  bounds.all_bytes = bounds.query_bytes;
  EXPECT_EQ(CostOf(LookUp(4), bounds).reserve_bytes, bounds.all_bytes / 8);
  bounds.query_bytes = 0;  // no limit
  EXPECT_EQ(CostOf(LookUp(4), bounds).reserve_bytes, bounds.all_bytes / 8);
  bounds.query_bytes = 1000;
  EXPECT_EQ(CostOf(LookUp(0), bounds).reserve_bytes, 500);
}

}  // namespace
}  // namespace koios::server
