// The text of math() as an expression over doubles: + - * / % and ^ with the reference's
// precedence, its functions, numbers, and names for what is put in.
// Rule: recursion is bounded, in the text by kMaxEquationDepth, in what is made of it by Fits().
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "planner/expression.h"

namespace koios::planner {

inline constexpr int kMaxEquationDepth = 100;

// What stands for the name in the expression; asked once for each place of it.
using VariableFunction = std::function<ExpressionPtr(const std::string& name)>;

// The names of an equation in the order of first sight. INVALID_ARGUMENT for what is no equation,
// RESOURCE_EXHAUSTED for one that is too large; messages tell the place in it.
StatusOr<std::vector<std::string>> VariablesOf(std::string_view equation);
// REQUIRES: VariablesOf() takes it.
StatusOr<ExpressionPtr> EquationExpression(std::string_view equation,
                                           const VariableFunction& variable);

}  // namespace koios::planner
