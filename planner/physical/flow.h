// Where the rows are while a chain is lowered: the open ends of the plan so far, the scope, and at
// which elements' owners the rows stand, so that exchanges are placed exactly where they are
// needed.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "planner/logical.h"
#include "planner/value_type.h"

namespace koios::planner {

// `next` number `index` of operator `id` leads to whatever is added next.
struct OpenEnd {
  uint32_t id = 0;
  int index = 0;
};

struct Flow {
  std::vector<OpenEnd> ends;
  uint32_t scope = 0;       // 1 + id of the innermost ScopeEnter; 0: root
  uint32_t loop = 0;        // 1 + id of the innermost LoopEnter; 0: none
  std::set<uint32_t> here;  // slots whose element is owned where the row stands
  bool at_home = true;      // the row stands at the home of its instance
  bool ordered = false;     // an order() came before: rows carry ordinals
  bool mixed = false;       // and may have overtaken each other since
  bool in_place = false;    // in a scope that runs in place: nothing is sent
  bool one_row = false;     // there is at most one row of each instance
  // Since the last barrier, rows on their way here have changed or read the graph.
  bool changes = false;
  bool reads = false;
  TypeEnv types;
};

// Whether an instance has at most one row behind `op`; `before`: and before it.
bool LeavesOneRow(const Op& op, bool before);

// Behind the end of branches: what holds for all of them.
Flow JoinFlows(std::vector<Flow> flows);

}  // namespace koios::planner
