// A slice: what a worker does of one query before it looks at others.
#pragma once

#include <cstdint>

#include "core/clock.h"
#include "engine/sched/query_run.h"

namespace koios::engine {

// False: the query can't go on until something comes from outside.
inline bool RunSlice(QueryRun* run, const Clock& clock) {
  // Operator invocations, fewer when they take longer: one ends in about as much.
  constexpr int kSteps = 8;
  constexpr int64_t kSliceNanos = 250'000;
  int steps = 0;
  bool idle = false;
  const int64_t begin = clock.NowNanos();
  while (!idle && steps < kSteps && clock.NowNanos() - begin < kSliceNanos) {
    idle = !run->Step();
    steps += idle ? 0 : 1;
  }
  bool more = true;
  if (idle) {
    more = run->Flush();
  } else {
    run->EndSlice();
  }
  run->Publish();
  return steps > 0 || more;
}

}  // namespace koios::engine
