// Operators that change the graph: they write to the query's transaction. A query that has one runs
// on one worker; the planner puts barriers between them and what reads. The transaction charges
// what it keeps to the query's account.
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
