// P and TextP as expressions. Rule: a comparison with an absent subject is absent, so a filter
// drops the row; what is negated is guarded by present(), so that has('age', not(gt(3))) drops too.
#pragma once

#include <functional>
#include <string_view>

#include "planner/argument.h"
#include "planner/expression.h"

namespace koios::planner {

// What a predicate's argument stands for: a constant, or in where() a label.
using OperandFunction = std::function<StatusOr<ExpressionPtr>(const Bound&)>;

StatusOr<ExpressionPtr> BuildPredicate(const Bound& predicate, const ExpressionPtr& subject,
                                       std::string_view step);
StatusOr<ExpressionPtr> BuildPredicate(const Bound& predicate, const ExpressionPtr& subject,
                                       std::string_view step, const OperandFunction& operand);

}  // namespace koios::planner
