// Texts that mean dates and durations: of literals, and of asDate(). ISO 8601, as java.time reads
// it. Pure, any thread. INVALID_ARGUMENT, with a reason and no position, for anything else.
#pragma once

#include <string_view>

#include "core/status.h"
#include "core/value.h"

namespace koios {

// Days from 1970-01-01 in the proleptic Gregorian calendar. REQUIRES: a day of that month.
int64_t DaysSinceEpoch(int year, int month, int day);

// The first and the last second, offset included, that java.time.OffsetDateTime has: the years are
// -999,999,999 to 999,999,999.
inline constexpr int64_t kFirstSecond = -31'557'014'135'596'800;
inline constexpr int64_t kLastSecond = 31'556'889'832'780'799;

// "2023-08", "2023-08-02", "2023-08-02T10:15", "2023-08-02T10:15:30.123Z", "...+01:00", "...+0100";
// UTC when there is no offset. Years of more than four digits have a sign.
StatusOr<DateTime> ParseDateTime(std::string_view text);

// "P2DT3H4M5.5S", with signs as java.time.Duration takes them.
StatusOr<Duration> ParseDuration(std::string_view text);

}  // namespace koios
