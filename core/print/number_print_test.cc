#include "core/print/number_print.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/random.h"

namespace koios {
namespace {

TEST(NumberPrintTest, AsJavaPrints) {
  EXPECT_EQ(PrintDouble(1.0), "1.0");
  EXPECT_EQ(PrintDouble(0.5), "0.5");
  EXPECT_EQ(PrintDouble(-0.0), "-0.0");
  EXPECT_EQ(PrintDouble(100.25), "100.25");
  EXPECT_EQ(PrintDouble(1'234'567.0), "1234567.0");
  EXPECT_EQ(PrintDouble(9'999'999.0), "9999999.0");
  EXPECT_EQ(PrintDouble(1e7), "1.0E7");
  EXPECT_EQ(PrintDouble(1e10), "1.0E10");
  EXPECT_EQ(PrintDouble(12'345'678.9), "1.23456789E7");
  EXPECT_EQ(PrintDouble(0.001), "0.001");
  EXPECT_EQ(PrintDouble(0.00123), "0.00123");
  EXPECT_EQ(PrintDouble(0.0009), "9.0E-4");
  EXPECT_EQ(PrintDouble(-1.5e-300), "-1.5E-300");
  EXPECT_EQ(PrintDouble(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(PrintDouble(std::numeric_limits<double>::max()), "1.7976931348623157E308");
  EXPECT_EQ(PrintDouble(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(PrintDouble(-std::numeric_limits<double>::infinity()), "-Infinity");
  EXPECT_EQ(PrintFloat(0.1f), "0.1");
  EXPECT_EQ(PrintFloat(16'777'216.0f), "1.6777216E7");
}

TEST(NumberPrintTest, ReadsBackAsTheSameNumber) {
  Rng rng(7);
  for (int i = 0; i < 20'000; ++i) {
    const auto v = std::bit_cast<double>(rng.Next());
    if (!std::isfinite(v)) continue;
    ASSERT_EQ(std::strtod(PrintDouble(v).c_str(), nullptr), v);
  }
}

}  // namespace
}  // namespace koios
