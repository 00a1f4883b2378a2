// Functions that make maps of elements and take maps apart: rows for the function table.
#pragma once

#include <vector>

#include "engine/expr/expression.h"

namespace koios::engine {

const std::vector<ScalarKernel>& MapFunctions();

}  // namespace koios::engine
