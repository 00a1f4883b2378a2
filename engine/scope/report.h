// Report: what comes home for one instance (DESIGN 5.3).
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "engine/batch/batch.h"
#include "engine/scope/weight.h"

namespace koios::engine {

// A barrier of one instance and iteration (engine rule 1).
struct BarrierKey {
  uint32_t op = 0;
  Loops loops;
  bool operator==(const BarrierKey&) const = default;
};

// Most instances have one at a time.
using Barriers = absl::InlinedVector<BarrierKey, 1>;

// What comes home for one instance, in one message: weight, and the barriers that wait for it.
struct Report {
  InstanceId instance;
  WeightSum weight;
  Barriers pending;
};

}  // namespace koios::engine
