// Operators that change the graph: they write to their worker's part of the query's transaction,
// which is all of it where views are shared and the query stays at one worker. The planner puts
// barriers between them and what reads; the transaction charges what it keeps to the query.
#pragma once

#include "engine/op/operator.h"

namespace koios::engine {

StatusOr<OperatorBundle> MakeAddVertex(const plan::AddVertex& op, uint32_t num_slots,
                                       OperatorHost* host);
StatusOr<OperatorBundle> MakeAddEdge(const plan::AddEdge& op, uint32_t num_slots,
                                     OperatorHost* host);
StatusOr<OperatorBundle> MakeSetProperty(const plan::SetProperty& op, uint32_t num_slots,
                                         OperatorHost* host);
StatusOr<OperatorBundle> MakeDrop(const plan::Drop& op, OperatorHost* host);
StatusOr<OperatorBundle> MakeGuard(const plan::Guard& op, uint32_t num_slots, OperatorHost* host);

}  // namespace koios::engine
