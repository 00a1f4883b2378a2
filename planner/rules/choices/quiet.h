// What may be asked of other rows than those it was written for.
#pragma once

#include "planner/expression.h"

namespace koios::planner {

// Pure, and no error for any row, whatever values are there: comparisons, tests of texts, members
// of constants, connectives, and what they read of elements. Sums of lists, say, are an error where
// texts are among them: a filter before may be there to keep these away.
bool IsQuiet(const Expression& expression);

}  // namespace koios::planner
