// Scope.local: the step works on what is inside the current value, as one expression.
#pragma once

#include <string>
#include <vector>

#include "planner/steps/builder.h"

namespace koios::planner {

bool IsLocal(const StepCall& step);
// Replaces the current value by `function`(current, args...).
Status EmitList(plan::FunctionRef function, std::vector<ExpressionPtr> args, Builder* builder);

}  // namespace koios::planner
