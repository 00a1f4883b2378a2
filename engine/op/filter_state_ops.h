// Filters that remember: Limit, TimeLimit and Dedup. State is per instance (and, for Limit, per
// iteration: engine rule 5).
#pragma once

#include "engine/op/operator.h"

namespace koios::engine {

StatusOr<OperatorBundle> MakeLimit(const plan::Limit& op, OperatorHost* host);
StatusOr<OperatorBundle> MakeTimeLimit(const plan::TimeLimit& op, OperatorHost* host);
StatusOr<OperatorBundle> MakeDedup(const plan::Dedup& op, uint32_t num_slots, OperatorHost* host);

}  // namespace koios::engine
