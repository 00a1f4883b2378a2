// Loops that are nothing but times(n).
#pragma once

#include <cstdint>

#include "planner/logical.h"

namespace koios::planner {

// n of a test that is times(n); 0: it is another, or none.
int64_t TimesOf(const ExpressionPtr& until);

// Whether all rows leave the loop in the same iteration.
bool LeavesAtOnce(const Loop& loop);

}  // namespace koios::planner
