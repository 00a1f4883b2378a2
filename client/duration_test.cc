#include "client/duration.h"

#include <gtest/gtest.h>

namespace koios::client {
namespace {

TEST(DurationTest, ReadsUnits) {
  EXPECT_EQ(*ParseMilliseconds("500ms"), 500u);
  EXPECT_EQ(*ParseMilliseconds("30s"), 30'000u);
  EXPECT_EQ(*ParseMilliseconds("1.5"), 1'500u);
  EXPECT_EQ(*ParseMilliseconds("2m"), 120'000u);
  EXPECT_EQ(*ParseMilliseconds("1h"), 3'600'000u);
  EXPECT_EQ(*ParseMilliseconds("0"), 0u);
}

TEST(DurationTest, RefusesTheRest) {
  for (const char* text : {"", "s", "-1s", "1d", "1 s", "nan", "inf", "1e9s", "9999999h"}) {
    EXPECT_EQ(ParseMilliseconds(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace koios::client
