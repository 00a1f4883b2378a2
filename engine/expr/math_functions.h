// The operators and functions of math(), over doubles. Rows for the function table.
#pragma once

#include <vector>

#include "engine/expr/expression.h"

namespace koios::engine {

const std::vector<ScalarKernel>& MathFunctions();

}  // namespace koios::engine
