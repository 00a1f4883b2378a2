// Barriers that gather into the side-effects of the query and give their rows again: Aggregate and
// Group with a side-effect; and Cap, which gives what was gathered. What an instance and iteration
// gathers is seen by others when its barrier fires, all at once.
#pragma once

#include "engine/op/operator.h"

namespace koios::engine {

StatusOr<OperatorBundle> MakeAggregate(const plan::Aggregate& op, uint32_t num_slots,
                                       OperatorHost* host);
StatusOr<OperatorBundle> MakeGroupEffect(const plan::Group& op, uint32_t num_slots,
                                         OperatorHost* host);
StatusOr<OperatorBundle> MakeCap(const plan::Cap& op, uint32_t num_slots, OperatorHost* host);

}  // namespace koios::engine
