// A clock by which all that is done between two looks at it takes as long.
#pragma once

#include <cstdint>

#include "core/clock.h"

namespace koios {

struct StepClock final : Clock {
  explicit StepClock(int64_t nanos) : step(nanos) {}
  int64_t NowNanos() const override { return now += step; }

  const int64_t step;
  mutable int64_t now = 0;
};

}  // namespace koios
