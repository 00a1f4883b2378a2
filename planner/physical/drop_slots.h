// Says, at each operator, which slots nobody behind it reads, so that rows travel light.
// A parked row keeps its slots: what a ScopeEnter or its body drops is lost in the body only.
#pragma once

#include "proto/plan.pb.h"

namespace koios::planner {

// Fills drop_slots. REQUIRES: operators in topological order.
void DropDeadSlots(plan::Plan* plan);

}  // namespace koios::planner
