// Functions that read the query's side-effects or draw at random: the rows that
// expr/effect_functions.cc gives to the function table.
#pragma once

#include <vector>

#include "engine/expr/expression.h"

namespace koios::engine {

const std::vector<ScalarKernel>& EffectFunctions();

}  // namespace koios::engine
