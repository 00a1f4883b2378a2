// The steps that make texts of values, and values of texts. Rows for the function table.
#pragma once

#include <vector>

#include "engine/expr/expression.h"

namespace koios::engine {

const std::vector<ScalarKernel>& TextFunctions();

}  // namespace koios::engine
