#include "import/header/time_text.h"

#include <chrono>
#include <cstdint>
#include <limits>

namespace koios::import {
namespace {

constexpr int kNanoDigits = 9;
constexpr int64_t kSecondsOfADay = 86'400;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool Take(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

// Exactly `count` digits.
bool TakeDigits(std::string_view* text, size_t count, int* value) {
  if (text->size() < count) return false;
  *value = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!IsDigit((*text)[i])) return false;
    *value = *value * 10 + ((*text)[i] - '0');
  }
  text->remove_prefix(count);
  return true;
}

// The digits behind a decimal point, as nanoseconds.
bool TakeFraction(std::string_view* text, int32_t* nanos) {
  int digits = 0;
  int32_t value = 0;
  while (!text->empty() && IsDigit(text->front())) {
    if (++digits > kNanoDigits) return false;
    value = value * 10 + (text->front() - '0');
    text->remove_prefix(1);
  }
  if (digits == 0) return false;
  for (; digits < kNanoDigits; ++digits) value *= 10;
  *nanos = value;
  return true;
}

bool TakeTime(std::string_view* text, int64_t* seconds, int32_t* nanos) {
  int hour = 0, minute = 0, second = 0;
  *nanos = 0;
  if (!TakeDigits(text, 2, &hour) || !Take(text, ':') || !TakeDigits(text, 2, &minute))
    return false;
  if (Take(text, ':')) {
    if (!TakeDigits(text, 2, &second)) return false;
    if (Take(text, '.') && !TakeFraction(text, nanos)) return false;
  }
  if (hour > 23 || minute > 59 || second > 59) return false;
  *seconds = hour * 3600 + minute * 60 + second;
  return true;
}

// Nothing, "Z", "+02:00", "+0200" or "+02".
bool TakeOffset(std::string_view* text, int32_t* seconds) {
  *seconds = 0;
  if (text->empty() || Take(text, 'Z') || Take(text, 'z')) return true;
  const bool negative = text->front() == '-';
  if (!negative && text->front() != '+') return false;
  text->remove_prefix(1);
  int hour = 0, minute = 0;
  if (!TakeDigits(text, 2, &hour)) return false;
  if (!text->empty()) {
    Take(text, ':');
    if (!TakeDigits(text, 2, &minute)) return false;
  }
  if (hour > 18 || minute > 59) return false;
  *seconds = (hour * 3600 + minute * 60) * (negative ? -1 : 1);
  return true;
}

}  // namespace

std::optional<DateTime> ParseDateTime(std::string_view text) {
  int year = 0, month = 0, day = 0;
  if (!TakeDigits(&text, 4, &year) || !Take(&text, '-') || !TakeDigits(&text, 2, &month) ||
      !Take(&text, '-') || !TakeDigits(&text, 2, &day)) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  DateTime result;
  result.seconds = std::chrono::sys_days(date).time_since_epoch().count() * kSecondsOfADay;
  if (text.empty()) return result;
  if (!Take(&text, 'T') && !Take(&text, 't') && !Take(&text, ' ')) return std::nullopt;
  int64_t of_day = 0;
  if (!TakeTime(&text, &of_day, &result.nanos)) return std::nullopt;
  if (!TakeOffset(&text, &result.offset_seconds) || !text.empty()) return std::nullopt;
  result.seconds += of_day - result.offset_seconds;
  return result;
}

bool IsTimeOfDay(std::string_view text) {
  int64_t seconds = 0;
  int32_t nanos = 0, offset = 0;
  return TakeTime(&text, &seconds, &nanos) && TakeOffset(&text, &offset) && text.empty();
}

std::optional<Duration> ParseDuration(std::string_view text) {
  const bool negative = Take(&text, '-');
  if (!negative) Take(&text, '+');
  if (!Take(&text, 'P') || text.empty()) return std::nullopt;
  // Units in the order they may come, with their seconds.
  constexpr struct {
    char letter;
    int64_t seconds;
    bool of_time;
  } kUnits[] = {{'W', 7 * kSecondsOfADay, false},
                {'D', kSecondsOfADay, false},
                {'H', 3600, true},
                {'M', 60, true},
                {'S', 1, true}};
  constexpr int64_t kMaxAmount = std::numeric_limits<int64_t>::max() / (8 * kSecondsOfADay);
  size_t next_unit = 0;
  bool in_time = false;
  Duration result;
  while (!text.empty()) {
    if (!in_time && Take(&text, 'T')) {
      in_time = true;
      if (text.empty()) return std::nullopt;
    }
    if (text.empty() || !IsDigit(text.front())) return std::nullopt;
    int64_t amount = 0;
    while (!text.empty() && IsDigit(text.front())) {
      if (amount > kMaxAmount / 10 - 1) return std::nullopt;
      amount = amount * 10 + (text.front() - '0');
      text.remove_prefix(1);
    }
    const bool fraction = Take(&text, '.');
    if (fraction && !TakeFraction(&text, &result.nanos)) return std::nullopt;
    if (text.empty()) return std::nullopt;
    while (next_unit < std::size(kUnits) &&
           (kUnits[next_unit].letter != text.front() || kUnits[next_unit].of_time != in_time)) {
      ++next_unit;
    }
    if (next_unit == std::size(kUnits)) return std::nullopt;
    if (fraction && kUnits[next_unit].letter != 'S') return std::nullopt;
    result.seconds += amount * kUnits[next_unit++].seconds;
    text.remove_prefix(1);
  }
  if (negative) {
    result.seconds = -result.seconds;
    if (result.nanos != 0) {
      result.seconds -= 1;
      result.nanos = 1'000'000'000 - result.nanos;
    }
  }
  return result;
}

}  // namespace koios::import
