// Predicates: the rows that expr/compare_functions.cc gives to the function table.
#pragma once

#include <vector>

#include "engine/expr/expression.h"

namespace koios::engine {

const std::vector<ScalarKernel>& CompareFunctions();

}  // namespace koios::engine
