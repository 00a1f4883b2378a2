// Reduce: count, sum, min, max, mean, fold. PARTIAL at each worker, FINAL at the instance's home.
#pragma once

#include "engine/op/operator.h"

namespace koios::engine {

StatusOr<OperatorBundle> MakeReduce(const plan::Reduce& op, OperatorHost* host);

}  // namespace koios::engine
