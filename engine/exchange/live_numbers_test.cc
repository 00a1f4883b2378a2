#include "engine/exchange/live_numbers.h"

#include <gtest/gtest.h>

#include <thread>

namespace koios::engine {
namespace {

TEST(LiveNumbersTest, OfEachOperatorAllWorkersAreAddedUp) {
  LiveNumbers live;
  EXPECT_TRUE(live.Operators().empty());
  EXPECT_EQ(live.Sum(&OperatorStats::rows_in), 0u);
  constexpr uint64_t kRounds = 1000;
  const auto work = [&live](uint32_t worker, uint64_t longest) {
    live.Prepare(3, 2);
    OperatorStats now;
    for (uint64_t i = 1; i <= kRounds; ++i) {
      ++now.rows_in;
      now.kept_bytes = i % 2 == 0 ? 10 : 500;  // more and less
      now.longest_ns = std::min(i, longest);
      live.Tell(worker, 1, now);
    }
  };
  std::thread other(work, 2, 700);
  work(0, 300);
  other.join();
  const std::vector<OperatorStats> operators = live.Operators();
  ASSERT_EQ(operators.size(), 2u);
  EXPECT_EQ(operators[0].rows_in, 0u);
  EXPECT_EQ(operators[1].rows_in, 2 * kRounds);
  EXPECT_EQ(operators[1].kept_bytes, 20u);
  EXPECT_EQ(operators[1].longest_ns, 700u);
  EXPECT_EQ(live.Sum(&OperatorStats::rows_in), 2 * kRounds);
}

}  // namespace
}  // namespace koios::engine
