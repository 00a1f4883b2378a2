// The steps that make one value of two collections, or of two maps. Rows for the function table.
#pragma once

#include <vector>

#include "engine/expr/expression.h"

namespace koios::engine {

const std::vector<ScalarKernel>& CollectionFunctions();

}  // namespace koios::engine
