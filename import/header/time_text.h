// ISO 8601 texts of instants, times of day and durations, as CSV exports write them.
#pragma once

#include <optional>
#include <string_view>

#include "core/value.h"

namespace koios::import {

// "2012-07-21", "2012-07-21T14:05", "…:09", "….123456789", with "Z", "+02:00", "+0200" or "+02"
// behind a time; a blank may stand for the T. Without an offset it is UTC.
std::optional<DateTime> ParseDateTime(std::string_view text);
// "14:05", "14:05:09.5", with or without an offset.
bool IsTimeOfDay(std::string_view text);
// "P2DT3H4M5.006S", a sign in front; "W" counts seven days. Years and months have no fixed length.
std::optional<Duration> ParseDuration(std::string_view text);

}  // namespace koios::import
