#include "core/convert/time_text.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "core/convert/number_text.h"
#include "core/text/text.h"

namespace koios {
namespace {

constexpr int64_t kSecondsPerDay = 86'400;
constexpr int32_t kNanosPerSecond = 1'000'000'000;
constexpr size_t kMaxYearDigits = 9;
// java.time.Duration holds any int64 of seconds; we stop far below any overflow of sums.
constexpr int64_t kMaxDurationSeconds = int64_t{1} << 53;

Status TextError(std::string_view reason, std::string_view text, std::string_view what,
                 std::string_view hint) {
  constexpr size_t kLongest = 60;
  ErrorDetail detail;
  detail.reason = std::string(reason);
  detail.hint = std::string(hint);
  return InvalidArgument(
      "\"" + std::string(TruncateUtf8(text, kLongest)) + "\" is not " + std::string(what) + ".",
      detail);
}

// A cursor over the text; every method leaves it where it was when it fails.
struct Cursor {
  std::string_view rest;

  bool Take(char c) {
    if (rest.empty() || rest[0] != c) return false;
    rest.remove_prefix(1);
    return true;
  }

  // Exactly `count` digits.
  std::optional<int> TakeDigits(size_t count) {
    if (rest.size() < count) return std::nullopt;
    int value = 0;
    for (size_t i = 0; i < count; ++i) {
      if (!IsDigit(rest[i])) return std::nullopt;
      value = value * 10 + (rest[i] - '0');
    }
    rest.remove_prefix(count);
    return value;
  }

  // One to nine digits after a point, as nanoseconds.
  std::optional<int32_t> TakeFraction() {
    int32_t nanos = 0;
    size_t count = 0;
    while (count < rest.size() && IsDigit(rest[count])) {
      if (++count > 9) return std::nullopt;
      nanos = nanos * 10 + (rest[count - 1] - '0');
    }
    if (count == 0) return std::nullopt;
    for (size_t i = count; i < 9; ++i) nanos *= 10;
    rest.remove_prefix(count);
    return nanos;
  }
};

bool IsLeapYear(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int DaysInMonth(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeapYear(year) ? 29 : kDays[month - 1];
}

// "2023-08" or "2023-08-02"; "+12023-08-02" and "-0044-03-15".
bool TakeDate(Cursor* cursor, DateTime* out) {
  const bool negative = cursor->Take('-');
  const bool plus = !negative && cursor->Take('+');
  size_t digits = 0;
  while (digits < cursor->rest.size() && IsDigit(cursor->rest[digits])) ++digits;
  // A plus is for the years that need it, and for those only.
  if (digits < 4 || digits > kMaxYearDigits || (negative ? false : plus != (digits > 4))) {
    return false;
  }
  const int magnitude = *cursor->TakeDigits(digits);
  const int year = negative ? -magnitude : magnitude;
  if (!cursor->Take('-')) return false;
  const auto month = cursor->TakeDigits(2);
  if (!month || *month < 1 || *month > 12) return false;
  int day = 1;
  if (cursor->Take('-')) {
    const auto of_month = cursor->TakeDigits(2);
    if (!of_month || *of_month < 1 || *of_month > DaysInMonth(year, *month)) return false;
    day = *of_month;
  }
  out->seconds = DaysSinceEpoch(year, *month, day) * kSecondsPerDay;
  return true;
}

// "10:15", "10:15:30" or "10:15:30.123".
bool TakeTime(Cursor* cursor, DateTime* out) {
  const auto hour = cursor->TakeDigits(2);
  if (!hour || *hour > 23 || !cursor->Take(':')) return false;
  const auto minute = cursor->TakeDigits(2);
  if (!minute || *minute > 59) return false;
  int second = 0;
  if (cursor->Take(':')) {
    const auto digits = cursor->TakeDigits(2);
    if (!digits || *digits > 59) return false;
    second = *digits;
    if (cursor->Take('.')) {
      const auto nanos = cursor->TakeFraction();
      if (!nanos) return false;
      out->nanos = *nanos;
    }
  }
  out->seconds += *hour * 3600 + *minute * 60 + second;
  return true;
}

// Nothing, "Z", "+01:00", "+0100" or "+01"; seconds may follow minutes.
bool TakeOffset(Cursor* cursor, DateTime* out) {
  if (cursor->rest.empty() || cursor->Take('Z') || cursor->Take('z')) return true;
  const bool negative = cursor->Take('-');
  if (!negative && !cursor->Take('+')) return false;
  const auto hours = cursor->TakeDigits(2);
  if (!hours || *hours > 18) return false;
  int sixtieths[2] = {0, 0};  // minutes, seconds
  const bool colon = cursor->rest.starts_with(':');
  for (int& part : sixtieths) {
    if (cursor->rest.empty() || (colon && !cursor->Take(':'))) break;
    const auto digits = cursor->TakeDigits(2);
    if (!digits || *digits > 59) return false;
    part = *digits;
  }
  const int32_t offset = *hours * 3600 + sixtieths[0] * 60 + sixtieths[1];
  if (offset > 18 * 3600) return false;
  out->offset_seconds = negative ? -offset : offset;
  out->seconds -= out->offset_seconds;
  return true;
}

// One "<number><unit>" of a duration, in nanoseconds and seconds.
bool TakeComponent(Cursor* cursor, bool after_t, Duration* out) {
  const bool negative = cursor->Take('-');
  if (!negative) cursor->Take('+');
  int64_t whole = 0;
  const char* begin = cursor->rest.data();
  const auto [stop, error] = std::from_chars(begin, begin + cursor->rest.size(), whole);
  if (error != std::errc() || whole < 0 || whole > kMaxDurationSeconds) return false;
  cursor->rest.remove_prefix(static_cast<size_t>(stop - begin));
  int32_t nanos = 0;
  const bool fraction = cursor->Take('.');
  if (fraction) {
    const auto digits = cursor->TakeFraction();
    if (!digits) return false;
    nanos = *digits;
  }
  int64_t unit = 0;
  if (!after_t && cursor->Take('D')) unit = kSecondsPerDay;
  if (after_t && unit == 0 && cursor->Take('H')) unit = 3600;
  if (after_t && unit == 0 && cursor->Take('M')) unit = 60;
  if (after_t && unit == 0 && cursor->Take('S')) unit = 1;
  if (unit == 0 || (fraction && unit != 1) || whole > kMaxDurationSeconds / unit) return false;
  out->seconds += negative ? -whole * unit : whole * unit;
  out->nanos += negative ? -nanos : nanos;
  return unit != 1 || cursor->rest.empty();  // seconds come last
}

std::optional<Duration> TakeDuration(std::string_view text) {
  Cursor cursor{text};
  const bool negative = cursor.Take('-');
  if (!negative) cursor.Take('+');
  if (!cursor.Take('P')) return std::nullopt;
  Duration sum;
  bool after_t = false;
  int components = 0;
  while (!cursor.rest.empty()) {
    if (!after_t && cursor.Take('T')) after_t = true;
    if (++components > 4 || !TakeComponent(&cursor, after_t, &sum)) return std::nullopt;
  }
  if (components == 0) return std::nullopt;
  if (negative) {
    sum.seconds = -sum.seconds;
    sum.nanos = -sum.nanos;
  }
  if (sum.nanos < 0) {
    sum.nanos += kNanosPerSecond;
    --sum.seconds;
  }
  return sum;
}

}  // namespace

// A year begins in March here, so that the leap day is its last, and 153 days pass in every five
// months.
int64_t DaysSinceEpoch(int year, int month, int day) {
  const int64_t shifted_year = month <= 2 ? year - 1 : year;
  const int64_t era = (shifted_year >= 0 ? shifted_year : shifted_year - 399) / 400;
  const int64_t year_of_era = shifted_year - era * 400;
  const int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  constexpr int64_t kDaysPerEra = 146'097;
  constexpr int64_t kDaysTo1970 = 719'468;
  return era * kDaysPerEra + day_of_era - kDaysTo1970;
}

StatusOr<DateTime> ParseDateTime(std::string_view text) {
  Cursor cursor{text};
  DateTime result;
  bool ok = TakeDate(&cursor, &result);
  if (ok && !cursor.rest.empty()) {
    ok = (cursor.Take('T') || cursor.Take('t') || cursor.Take(' ')) && TakeTime(&cursor, &result) &&
         TakeOffset(&cursor, &result);
  }
  if (ok && cursor.rest.empty()) return result;
  return TextError("BAD_DATETIME", text, "a date",
                   "dates are like 2023-08-02, 2023-08-02T10:15:30Z, 2023-08-02T10:15:30.5+01:00");
}

StatusOr<Duration> ParseDuration(std::string_view text) {
  const std::optional<Duration> result = TakeDuration(text);
  if (result.has_value()) return *result;
  return TextError("BAD_DURATION", text, "a duration",
                   "durations are like P2D, PT3H, PT4M5.5S, P2DT3H");
}

}  // namespace koios
