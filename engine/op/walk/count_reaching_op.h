// CountReaching: of out().where(out().as('a')).count() how many ends of its first hop each row has
// from which the other hops lead to the vertex in its slot. No row is made of an end.
#pragma once

#include "engine/op/operator.h"

namespace koios::engine {

// REQUIRES: the result is NUMBER.
StatusOr<OperatorBundle> MakeCountReaching(const plan::Reach& op, uint32_t num_slots,
                                           OperatorHost* host);

}  // namespace koios::engine
