// Bodies that need no scope: chains that one expression over the entering row can say.
// Rule: a body is simple only when the expression gives the same as the scope would in every case,
// absent values and counts of nothing included.
#pragma once

#include "planner/logical.h"

namespace koios::planner {

// The body's only result as an expression, absent when there is none; nullptr when not simple.
ExpressionPtr SimpleValue(const Chain& body);
// Whether the body gives anything, as a predicate; nullptr when not simple.
ExpressionPtr SimpleExists(const Chain& body);

}  // namespace koios::planner
