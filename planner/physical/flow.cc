#include "planner/physical/flow.h"

#include <algorithm>
#include <utility>

#include "planner/op_table.h"

namespace koios::planner {

bool LeavesOneRow(const Op& op, bool before) {
  const Group* group = As<Group>(op);
  const Cap* cap = As<Cap>(op);
  const bool gives_rows = (group != nullptr && group->rows) || (cap != nullptr && cap->rows);
  if (EndsHistory(op)) return !gives_rows;
  return before && TraitsOf(op).at_most_one;
}

Flow JoinFlows(std::vector<Flow> flows) {
  Flow joined = std::move(flows[0]);
  for (size_t i = 1; i < flows.size(); ++i) {
    Flow& other = flows[i];
    joined.ends.insert(joined.ends.end(), other.ends.begin(), other.ends.end());
    std::erase_if(joined.here, [&other](uint32_t slot) { return !other.here.contains(slot); });
    joined.at_home = joined.at_home && other.at_home;
    joined.ordered = joined.ordered && other.ordered;
    joined.changes = joined.changes || other.changes;
    joined.reads = joined.reads || other.reads;
    joined.types = JoinEnvs(joined.types, other.types);
  }
  joined.mixed = true;  // branches overtake each other
  return joined;
}

}  // namespace koios::planner
