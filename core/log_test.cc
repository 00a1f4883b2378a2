#include "core/log.h"

#include <gtest/gtest.h>

namespace koios {
namespace {

TEST(LogTest, LevelsDropLinesAndTheirArguments) {
  int formatted = 0;
  const auto count = [&formatted] { return ++formatted; };
  SetLogLevel(LogLevel::kWarning);
  EXPECT_FALSE(LogEnabled(LogLevel::kInfo));
  EXPECT_TRUE(LogEnabled(LogLevel::kError));
  ::testing::internal::CaptureStderr();
  KLOG_INFO("not seen {}", count());
  KLOG_WARNING("braces {} and {{}} {}", count(), std::string_view("{}"));
  const std::string line = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(formatted, 1);
  EXPECT_NE(line.find("warning log_test.cc:"), std::string::npos) << line;
  EXPECT_NE(line.find("braces 1 and {} {}"), std::string::npos) << line;
  SetLogLevel(LogLevel::kOff);
  EXPECT_FALSE(LogEnabled(LogLevel::kError));
  EXPECT_FALSE(LogEnabled(LogLevel::kOff));
  SetLogLevel(LogLevel::kInfo);
}

TEST(LogTest, NamesOfLevels) {
  EXPECT_EQ(LogLevelOf("debug"), LogLevel::kDebug);
  EXPECT_EQ(LogLevelOf("off"), LogLevel::kOff);
  EXPECT_FALSE(LogLevelOf("loud").has_value());
}

}  // namespace
}  // namespace koios
