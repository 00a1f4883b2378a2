#include "engine/expr/call_size.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/testing/step_clock.h"
#include "storage/memory_graph.h"

namespace koios::engine {
namespace {

TEST(CallSizeTest, FollowsWhatCallsTake) {
  const StepClock slow(1'000'000), quick(10), fair(CallSize::kLongNanos / 2);
  CallSize size(32, 1000, 4000);
  EXPECT_EQ(size.Measure(slow, [] { return 7; }), 7);
  EXPECT_EQ(size.size(), 500u);
  size.Measure(fair, [] { return 7; });
  EXPECT_EQ(size.size(), 500u);
  for (int i = 0; i < 10; ++i) size.Measure(slow, [] { return 7; });
  EXPECT_EQ(size.size(), 32u);
  for (int i = 0; i < 10; ++i) size.Measure(quick, [] { return 7; });
  EXPECT_EQ(size.size(), 4000u);
}

// Each vertex has `fan` edges that leave it.
struct Fans {
  Fans(int num_vertices, int fan) {
    for (int i = 0; i < num_vertices; ++i) {
      vertices.push_back(graph.AddVertex(std::nullopt, "node").value());
      for (int edge = 0; edge < fan; ++edge) {
        EXPECT_TRUE(graph.AddEdge(vertices[i], vertices[i / 2], "to").ok());
      }
    }
  }
  storage::MemoryGraph graph;
  std::vector<VertexRef> vertices;
};

TEST(CountOnTest, ACallEndsWhenItHasTakenLong) {
  const Fans fans(500, 3);
  std::vector<int64_t> all;
  ASSERT_TRUE(fans.graph.Degrees(fans.vertices, Direction::kBoth, {}, &all).ok());
  const StepClock slow(CallSize::kLongNanos + 1), still(0);
  for (const StepClock* clock : {&slow, &still}) {
    CallSize size = CountedInACall();
    storage::DegreeCursor cursor;
    std::vector<int64_t> degrees;
    int calls = 0;
    for (; !cursor.done; ++calls) {
      ASSERT_TRUE(
          CountOn(fans.graph, *clock, fans.vertices, Direction::kBoth, {}, &size, &cursor, &degrees)
              .ok());
      if (clock == &slow) {
        EXPECT_LE(degrees.size(), 64u * (calls + 1));
      }
    }
    EXPECT_EQ(degrees, all);
    if (clock == &still) {
      EXPECT_EQ(calls, 1);
    }
  }
}

TEST(EstimateEndsTest, CountsACallsShareOfThem) {
  const Fans fans(500, 3);
  const StepClock slow(CallSize::kLongNanos + 1), still(0);
  const auto estimate = [&](const Clock& clock, Direction direction) {
    return EstimateEnds(fans.graph, clock, fans.vertices, direction, {}).value();
  };
  EXPECT_EQ(estimate(still, Direction::kOut), 1500);
  EXPECT_EQ(estimate(still, Direction::kBoth), 3000);
  EXPECT_EQ(estimate(slow, Direction::kOut), 1500);  // each has as many
  // One vertex that has more than a call counts.
  const Fans hub(1, 1000);
  const int64_t some = EstimateEnds(hub.graph, slow, hub.vertices, Direction::kOut, {}).value();
  EXPECT_GE(some, 64);
  EXPECT_LE(some, 1000);
  EXPECT_EQ(EstimateEnds(hub.graph, still, {}, Direction::kOut, {}).value(), 0);
}

}  // namespace
}  // namespace koios::engine
