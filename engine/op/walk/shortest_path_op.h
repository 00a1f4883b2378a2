// ShortestPath: of each row's vertex the end of a shortest walk, searched from both sides.
#pragma once

#include "engine/op/operator.h"

namespace koios::engine {

StatusOr<OperatorBundle> MakeShortestPath(const plan::ShortestPath& op, uint32_t num_slots,
                                          OperatorHost* host);

}  // namespace koios::engine
