#include "core/print/time_print.h"

#include <gtest/gtest.h>

namespace koios {
namespace {

TEST(TimePrintTest, DateTimes) {
  EXPECT_EQ(PrintDateTime({1'690'848'000, 0, 0}), "2023-08-01T00:00Z");
  EXPECT_EQ(PrintDateTime({1'690'848'005, 120'000'000, 7'200}), "2023-08-01T02:00:05.120+02:00");
  EXPECT_EQ(PrintDateTime({0, 1'000, 0}), "1970-01-01T00:00:00.000001Z");
  EXPECT_EQ(PrintDateTime({-1, 999'999'999, 0}), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(PrintDateTime({1'709'164'800, 0, 0}), "2024-02-29T00:00Z");
  EXPECT_EQ(PrintDateTime({-2'203'891'200, 0, 0}), "1900-03-01T00:00Z");
  EXPECT_EQ(PrintDateTime({0, 0, -19'815}), "1969-12-31T18:29:45-05:30:15");
  EXPECT_EQ(PrintDateTime({253'402'300'800, 0, 0}), "+10000-01-01T00:00Z");
  EXPECT_EQ(PrintDateTime({-62'198'755'200, 0, 0}), "-0001-01-01T00:00Z");
  EXPECT_FALSE(PrintDateTime({INT64_MIN, 0, INT32_MIN}).empty());  // no overflow
  EXPECT_FALSE(PrintDateTime({INT64_MAX, 0, INT32_MAX}).empty());
}

TEST(TimePrintTest, Durations) {
  EXPECT_EQ(PrintDuration({0, 0}), "PT0S");
  EXPECT_EQ(PrintDuration({29'172, 345'000'000}), "PT8H6M12.345S");
  EXPECT_EQ(PrintDuration({3'600, 0}), "PT1H");
  EXPECT_EQ(PrintDuration({-3'723, 0}), "PT-1H-2M-3S");
  EXPECT_EQ(PrintDuration({-1, 700'000'000}), "PT-0.3S");
  EXPECT_EQ(PrintDuration({-5, 1}), "PT-4.999999999S");
  EXPECT_EQ(PrintDuration({0, 1}), "PT0.000000001S");
}

TEST(TimePrintTest, Uuids) {
  EXPECT_EQ(PrintUuid({0x6100808b62f942b7, 0x957eed66c30f40d1}),
            "6100808b-62f9-42b7-957e-ed66c30f40d1");
  EXPECT_EQ(PrintUuid({0, 1}), "00000000-0000-0000-0000-000000000001");
}

}  // namespace
}  // namespace koios
