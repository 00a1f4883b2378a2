// Elements inside values as users see them, where no worker reads what another one owns:
// elements_in lists them, detached reads one at its owner, as_seen and as_ordered put what was read
// in their place. The planner puts them in front of functions with kReadsInside
// (Lowering::StoreSeen).
#pragma once

#include <vector>

#include "engine/expr/expression.h"

namespace koios::engine {

const std::vector<ScalarKernel>& DetachedFunctions();

}  // namespace koios::engine
