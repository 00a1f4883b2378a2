#include "core/convert/time_text.h"

#include <gtest/gtest.h>

#include <string>

#include "core/print/time_print.h"

namespace koios {
namespace {

std::string Read(std::string_view text) {
  const StatusOr<DateTime> time = ParseDateTime(text);
  return time.ok() ? PrintDateTime(*time) : "error";
}

TEST(TimeTextTest, DatesAreIso8601) {
  EXPECT_EQ(ParseDateTime("1970-01-01T00:00:00Z").value(), DateTime{});
  EXPECT_EQ(ParseDateTime("2000-03-01")->seconds, 951'868'800);
  EXPECT_EQ(ParseDateTime("1969-12-31T23:59:59.25Z").value(), (DateTime{-1, 250'000'000, 0}));
  EXPECT_EQ(ParseDateTime("1970-01-01T01:00:00+01:00").value(), (DateTime{0, 0, 3600}));
  EXPECT_EQ(Read("2023-08"), "2023-08-01T00:00Z");
  EXPECT_EQ(Read("2024-02-29T10:15"), "2024-02-29T10:15Z");
  EXPECT_EQ(Read("0001-01-01T00:00:00Z"), "0001-01-01T00:00Z");
  EXPECT_EQ(Read("2023-08-02T00:00:00.120-0530"), "2023-08-02T00:00:00.120-05:30");
}

TEST(TimeTextTest, WhatIsPrintedIsReadAgain) {
  for (std::string_view text :
       {"2023-08-02T10:15:30+01:00:30", "2023-08-02T10:15-01:00:30", "+12023-08-02T00:00Z",
        "-0044-03-15T00:00Z", "+999999999-12-31T23:59:59.999999999-18:00",
        "-999999999-01-01T00:00+18:00"}) {
    EXPECT_EQ(Read(text), text);
  }
  EXPECT_EQ(Read("2023-08-02T10:15+010030"), "2023-08-02T10:15+01:00:30");
  EXPECT_EQ(ParseDateTime("-999999999-01-01T00:00Z")->seconds, kFirstSecond);
  EXPECT_EQ(ParseDateTime("+999999999-12-31T23:59:59Z")->seconds, kLastSecond);
}

TEST(TimeTextTest, BadDatesAreRefused) {
  for (std::string_view text : {"",
                                "2023",
                                "2023-13",
                                "2023-02-29",
                                "2023-00-01",
                                "2023-08-02T",
                                "2023-08-02T24:00:00Z",
                                "2023-08-02T10:15:30.Z",
                                "2023-08-02T10:15:30+19:00",
                                "2023-08-02T10:15:30Zx",
                                "2023-08-02T10:15:30.1234567890Z",
                                "2023-08-02T10:15+01:",
                                "2023-08-02T10:15+01:0030",
                                "2023-08-02T10:15+18:00:01",
                                "12023-08-02",
                                "+2023-08-02",
                                "+1000000000-01-01",
                                "-1-01-01",
                                "10:15",
                                "not a date"}) {
    EXPECT_EQ(Read(text), "error") << text;
  }
}

TEST(TimeTextTest, Durations) {
  EXPECT_EQ(ParseDuration("P2DT3H4M5.5S").value(),
            (Duration{2 * 86'400 + 3 * 3600 + 4 * 60 + 5, 500'000'000}));
  EXPECT_EQ(ParseDuration("-PT0.5S").value(), (Duration{-1, 500'000'000}));
  EXPECT_EQ(ParseDuration("PT-6H+3M").value(), (Duration{-6 * 3600 + 180, 0}));
  for (std::string_view text : {"", "P", "PT", "P1S", "PT1D", "PT1.5H", "P1", "PT1S1S", "5",
                                "PT99999999999999999999S", "PTT1S"}) {
    EXPECT_FALSE(ParseDuration(text).ok()) << text;
  }
}

}  // namespace
}  // namespace koios
