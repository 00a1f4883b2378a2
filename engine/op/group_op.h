// Group: the rows of an instance become one map (or one row per group), from key to count, list,
// last, sum, min, max or mean of the values. At the instance's home; every entry is charged.
// PARTIAL: a worker's share of these, but for lists and last ones.
#pragma once

#include "engine/op/operator.h"

namespace koios::engine {

StatusOr<OperatorBundle> MakeGroup(const plan::Group& op, uint32_t num_slots, OperatorHost* host);

// INTERNAL for slots that the plan does not have.
Status CheckGroup(const plan::Group& op, uint32_t num_slots);

}  // namespace koios::engine
