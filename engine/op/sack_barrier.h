// Barriers where the sacks of traversers are put together: of `withSack(1.0, sum)` the rows at one
// vertex become one, and barrier(normSack) makes each sack its share of all.
#pragma once

#include "engine/op/operator.h"

namespace koios::engine {

// INTERNAL for an unknown operator, damaged bytes, or slots that the plan does not have.
StatusOr<OperatorBundle> MakeSackBarrier(const plan::Sacks& op, uint32_t num_slots,
                                         OperatorHost* host);

}  // namespace koios::engine
