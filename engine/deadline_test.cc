// Whoever sees that the time is over says the same of it.
#include "engine/deadline.h"

#include <gtest/gtest.h>

namespace koios::engine {
namespace {

constexpr uint64_t kMs = 1'000'000;

TEST(DeadlineTest, SaysWhatTheLimitWasAndWhatWasUsed) {
  const Status status = RanIntoDeadline(5 * kMs, 305 * kMs, 306 * kMs + 1);
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "The query ran into its deadline.");
  const ErrorDetail detail = DetailOf(status).value();
  EXPECT_EQ(detail.reason, "DEADLINE");
  EXPECT_EQ(detail.limit, "300 ms");
  EXPECT_EQ(detail.used, "302 ms");
  EXPECT_EQ(detail.setting, "query-timeout");
  const Status writing = RanIntoDeadline(5 * kMs, 305 * kMs, 306 * kMs, "while it was written");
  EXPECT_EQ(writing.message(), "The query ran into its deadline while it was written.");
  EXPECT_EQ(DetailOf(writing).value().limit, "300 ms");
}

}  // namespace
}  // namespace koios::engine
