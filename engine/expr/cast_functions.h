// asNumber(), asBool(), asDate(), dateAdd() and dateDiff().
#pragma once

#include <vector>

#include "engine/expr/expression.h"

namespace koios::engine {

const std::vector<ScalarKernel>& CastFunctions();

}  // namespace koios::engine
