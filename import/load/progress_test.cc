#include "import/load/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace koios::import {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

std::string Contents(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char buffer[256];
  while (std::fgets(buffer, sizeof(buffer), file) != nullptr) text += buffer;
  return text;
}

TEST(ProgressTest, JsonTellsStageRowsRateShareAndTimeLeft) {
  ManualClock clock(5 * kSecond);
  Progress progress(ProgressMode::kNone, stderr, &clock);
  progress.StartStage("read edges", 1000);
  clock.Advance(2 * kSecond);
  progress.AddRows(500);
  progress.SetDone(250);
  const auto line = nlohmann::json::parse(progress.Line(true));
  EXPECT_EQ(line["stage"], "read edges");
  EXPECT_EQ(line["rows"], 500);
  EXPECT_EQ(line["rows_per_s"], 250);
  EXPECT_EQ(line["done"], 0.25);
  EXPECT_EQ(line["eta_s"], 6);
  EXPECT_EQ(line["elapsed_s"], 2.0);
}

TEST(ProgressTest, TextHasShortNumbers) {
  ManualClock clock;
  Progress progress(ProgressMode::kNone, stderr, &clock);
  progress.StartStage("sort", 4'000'000);
  clock.Advance(kSecond);
  progress.AddRows(1'234'567);
  progress.AddDone(1'000'000);
  EXPECT_EQ(progress.Line(false), "sort                1235k rows    1235k/s  25.0 %  3 s left");
}

TEST(ProgressTest, AStageThatFailedIsNotShownAsDone) {
  std::FILE* out = std::tmpfile();
  ASSERT_NE(out, nullptr);
  ManualClock clock;
  {
    Progress progress(ProgressMode::kAuto, out, &clock);
    progress.StartStage("one", 10);
    progress.AddDone(4);
    progress.Finish(false);
  }
  EXPECT_NE(Contents(out).find(" 40.0 %"), std::string::npos);
  std::fclose(out);
}

TEST(ProgressTest, AFinishedStageIsOneLineWhenThereIsNoTerminal) {
  std::FILE* out = std::tmpfile();
  ASSERT_NE(out, nullptr);
  ManualClock clock;
  {
    Progress progress(ProgressMode::kAuto, out, &clock);
    progress.StartStage("one", 0);
    progress.AddRows(3);
    progress.StartStage("two", 10);
    progress.Finish(true);
    progress.Finish(true);
  }
  const std::string text = Contents(out);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_NE(text.find("one "), std::string::npos);
  EXPECT_NE(text.find("100.0 %"), std::string::npos);
  std::fclose(out);
}

}  // namespace
}  // namespace koios::import
