// Functions over one collection or map: what Scope.local asks for. Rows for the function table.
#pragma once

#include <vector>

#include "engine/expr/expression.h"

namespace koios::engine {

const std::vector<ScalarKernel>& ListFunctions();

}  // namespace koios::engine
