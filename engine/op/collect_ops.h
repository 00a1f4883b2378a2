// Barriers that keep whole rows at the instance's home and give them again: Order (with top-k),
// Tail, Sample, Barrier. Every row is charged before it is kept.
#pragma once

#include "engine/op/operator.h"

namespace koios::engine {

StatusOr<OperatorBundle> MakeOrder(const plan::Order& op, uint32_t num_slots, OperatorHost* host);
OperatorBundle MakeTail(const plan::Tail& op, OperatorHost* host);
OperatorBundle MakeSample(const plan::Sample& op, OperatorHost* host);
OperatorBundle MakeBarrier(OperatorHost* host);

}  // namespace koios::engine
