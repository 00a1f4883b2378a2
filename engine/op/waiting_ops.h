// Barriers that keep less than what comes: dedup() in a loop keeps the first row of each key, a
// merging barrier one row of those that are equal.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/op/operator.h"

namespace koios::engine {

// REQUIRES: slots of the plan, at least one.
OperatorBundle MakeWaitingDedup(std::vector<uint32_t> slots, uint32_t num_slots,
                                OperatorHost* host);
OperatorBundle MakeMergingBarrier(uint32_t num_slots, OperatorHost* host);

}  // namespace koios::engine
