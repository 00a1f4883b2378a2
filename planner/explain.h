// Plans as text, stable enough for goldens: the logical traversal (ChainText) and the physical
// plan, one operator per line:
//   #2 Scan(VERTEX, [person]) → #3  [scope 1, drop 2]
#pragma once

#include <string>

#include "proto/plan.pb.h"

namespace koios::planner {

std::string PhysicalText(const plan::Plan& plan);

// "eq(property(_, "name"), "marko")"; slots by their names.
std::string ExprText(const plan::Expr& expr, const plan::Plan& plan);

}  // namespace koios::planner
