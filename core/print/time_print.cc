#include "core/print/time_print.h"

#include <fmt/format.h>

#include <cstdlib>

namespace koios {
namespace {

constexpr int64_t kDaySeconds = 86'400;

// REQUIRES: b > 0.
int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
int64_t FloorModulo(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }

struct Date {
  int64_t year;
  int64_t month;
  int64_t day;
};

// Proleptic Gregorian, from days since 1970-01-01. Counts in years that begin in March, so that
// the leap day is the last day of a year, and in eras of 400 such years.
Date DateOf(int64_t days) {
  constexpr int64_t kDaysPerEra = 146'097;
  constexpr int64_t kDaysToEpoch = 719'468;  // from 0000-03-01 to 1970-01-01
  const int64_t shifted = days + kDaysToEpoch;
  const int64_t era = FloorDivide(shifted, kDaysPerEra);
  const int64_t day_of_era = shifted - era * kDaysPerEra;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const int64_t day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  const int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

std::string PrintYear(int64_t year) {
  if (year > 9'999) return fmt::format("+{}", year);
  return year < 0 ? fmt::format("-{:04}", -year) : fmt::format("{:04}", year);
}

// ".120", ".000001": the fewest groups of three digits.
std::string PrintFraction(int32_t nanos) {
  if (nanos % 1'000'000 == 0) return fmt::format(".{:03}", nanos / 1'000'000);
  if (nanos % 1'000 == 0) return fmt::format(".{:06}", nanos / 1'000);
  return fmt::format(".{:09}", nanos);
}

std::string PrintOffset(int32_t offset_seconds) {
  if (offset_seconds == 0) return "Z";
  const int64_t magnitude = std::abs(int64_t{offset_seconds});
  std::string out = fmt::format("{}{:02}:{:02}", offset_seconds < 0 ? '-' : '+', magnitude / 3'600,
                                magnitude / 60 % 60);
  if (magnitude % 60 != 0) out += fmt::format(":{:02}", magnitude % 60);
  return out;
}

}  // namespace

std::string PrintDateTime(const DateTime& v) {
  // Days and seconds apart, so that no sum can overflow.
  int64_t days = FloorDivide(v.seconds, kDaySeconds);
  int64_t seconds = FloorModulo(v.seconds, kDaySeconds) + v.offset_seconds;
  days += FloorDivide(seconds, kDaySeconds);
  seconds = FloorModulo(seconds, kDaySeconds);
  const Date date = DateOf(days);
  std::string out = fmt::format("{}-{:02}-{:02}T{:02}:{:02}", PrintYear(date.year), date.month,
                                date.day, seconds / 3'600, seconds / 60 % 60);
  if (seconds % 60 != 0 || v.nanos != 0) out += fmt::format(":{:02}", seconds % 60);
  if (v.nanos != 0) out += PrintFraction(v.nanos);
  return out + PrintOffset(v.offset_seconds);
}

std::string PrintDuration(const Duration& v) {
  if (v.seconds == 0 && v.nanos == 0) return "PT0S";
  // A negative duration with nanos is -5 s + 0.3 s: printed as the whole -4 and the fraction .7.
  const bool borrow = v.seconds < 0 && v.nanos > 0;
  const int64_t whole = v.seconds + (borrow ? 1 : 0);
  const int32_t nanos = borrow ? 1'000'000'000 - v.nanos : v.nanos;
  std::string out = "PT";
  if (whole / 3'600 != 0) out += fmt::format("{}H", whole / 3'600);
  if (whole % 3'600 / 60 != 0) out += fmt::format("{}M", whole % 3'600 / 60);
  const int64_t seconds = whole % 60;
  if (seconds == 0 && nanos == 0) return out;
  out += borrow && seconds == 0 ? "-0" : fmt::format("{}", seconds);
  if (nanos != 0) {
    std::string fraction = fmt::format(".{:09}", nanos);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    out += fraction;
  }
  return out + "S";
}

std::string PrintUuid(const Uuid& v) {
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", v.high >> 32, v.high >> 16 & 0xFFFF,
                     v.high & 0xFFFF, v.low >> 48, v.low & 0xFFFF'FFFF'FFFFull);
}

}  // namespace koios
