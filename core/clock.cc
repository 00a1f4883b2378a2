#include "core/clock.h"

#include <chrono>

namespace koios {

int64_t SteadyClock::NowNanos() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

const SteadyClock* SteadyClock::Get() {
  static const SteadyClock kClock;
  return &kClock;
}

}  // namespace koios
