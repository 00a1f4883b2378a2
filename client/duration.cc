#include "client/duration.h"

#include <charconv>
#include <cmath>
#include <string>

namespace koios::client {

StatusOr<uint64_t> ParseMilliseconds(std::string_view text) {
  constexpr double kMaxMs = 1000.0 * 86'400 * 1000;
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  double factor = 0;
  if (unit == "ms") factor = 1;
  if (unit == "s" || unit.empty()) factor = 1000;
  if (unit == "m") factor = 60'000;
  if (unit == "h") factor = 3'600'000;
  const double ms = number * factor;
  if (error != std::errc() || factor == 0 || !std::isfinite(ms) || ms < 0 || ms > kMaxMs) {
    return InvalidArgument("'" + std::string(text.substr(0, 50)) +
                           "' is no time; write for example 500ms, 30s, 5m or 1h.");
  }
  return static_cast<uint64_t>(std::ceil(ms));
}

}  // namespace koios::client
