// Reach: whether, or how often, walks of some hops lead from a row's vertex to an end.
#pragma once

#include "engine/op/operator.h"

namespace koios::engine {

StatusOr<OperatorBundle> MakeReach(const plan::Reach& op, uint32_t num_slots, OperatorHost* host);

}  // namespace koios::engine
