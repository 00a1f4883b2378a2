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
  bool is_more = false;
  const auto more = [&] { return is_more; };
  EXPECT_EQ(size.Measure(
                slow, [] { return 7; }, more),
            7);
  EXPECT_EQ(size.size(), 500u);
  size.Measure(
      fair, [] { return 7; }, more);
  EXPECT_EQ(size.size(), 500u);
  for (int i = 0; i < 10; ++i)
    size.Measure(
        slow, [] { return 7; }, more);
  EXPECT_EQ(size.size(), 32u);
  size.Measure(
      quick, [] { return 7; }, more);
  EXPECT_EQ(size.size(), 32u);  // that was all
  is_more = true;
  for (int i = 0; i < 10; ++i)
    size.Measure(
        quick, [] { return 7; }, more);
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

int64_t EstimateOf(const Fans& fans, std::span<const VertexRef> vertices, const Clock& clock,
                   Direction direction) {
  const auto at = [vertices](size_t i) { return vertices[i]; };
  return EstimateEnds(fans.graph, clock, vertices.size(), at, direction, {}).value();
}

TEST(EstimateEndsTest, CountsACallsShareOfThem) {
  const Fans fans(500, 3);
  const StepClock slow(CallSize::kLongNanos + 1), still(0);
  EXPECT_EQ(EstimateOf(fans, fans.vertices, still, Direction::kOut), 1500);
  EXPECT_EQ(EstimateOf(fans, fans.vertices, still, Direction::kBoth), 3000);
  EXPECT_EQ(EstimateOf(fans, fans.vertices, slow, Direction::kOut), 1500);  // each has as many
  EXPECT_EQ(EstimateOf(fans, {}, still, Direction::kOut), 0);
  // One vertex that has more than a call counts.
  const Fans hub(1, 1000);
  const int64_t some = EstimateOf(hub, hub.vertices, slow, Direction::kOut);
  EXPECT_GE(some, 64);
  EXPECT_LE(some, 1000);
}

// Those that have ends are between many that have none.
TEST(EstimateEndsTest, OnlyNoneIsNothing) {
  Fans fans(2 * kSampledVertices, 0);
  const StepClock slow(CallSize::kLongNanos + 1), still(0);
  EXPECT_EQ(EstimateOf(fans, std::span(fans.vertices).first(1000), still, Direction::kOut), 0);
  EXPECT_GT(EstimateOf(fans, std::span(fans.vertices).first(1000), slow, Direction::kOut), 0);
  EXPECT_GT(EstimateOf(fans, fans.vertices, still, Direction::kOut), 0);
  // They are looked at everywhere, not from the beginning on.
  const size_t half = fans.vertices.size() / 2;
  for (size_t i = half; i < fans.vertices.size(); ++i) {
    ASSERT_TRUE(fans.graph.AddEdge(fans.vertices[i], fans.vertices[1], "to").ok());
  }
  for (const StepClock* clock : {&slow, &still}) {
    const auto estimate =
        static_cast<double>(EstimateOf(fans, fans.vertices, *clock, Direction::kOut));
    EXPECT_NEAR(estimate, static_cast<double>(half), static_cast<double>(half) / 4);
  }
}

}  // namespace
}  // namespace koios::engine
