// What a source can take over from the filters behind it.
#pragma once

#include "planner/logical.h"

namespace koios::planner {

// A test of the current element's label or id against constants only.
bool IsSourceFilter(const Filter& filter);

}  // namespace koios::planner
