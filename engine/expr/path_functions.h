// Functions over paths: how they grow, and what path(), simplePath() and select(pop) ask of them.
// Rows for the function table.
#pragma once

#include <vector>

#include "engine/expr/expression.h"

namespace koios::engine {

const std::vector<ScalarKernel>& PathFunctions();

}  // namespace koios::engine
