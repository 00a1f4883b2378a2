// The operators of fold(seed, operator): sum, minus, mult, div, min, max, assign, and, or, addAll,
// sumLong. Pure, any thread.
#pragma once

#include <string>

#include "core/value.h"

namespace koios::engine {

// INVALID_ARGUMENT for operands that the operator does not know.
using FoldOperator = StatusOr<Value> (*)(const Value& folded, const Value& next);

// nullptr: there is no such operator.
FoldOperator FindFoldOperator(const std::string& name);

}  // namespace koios::engine
