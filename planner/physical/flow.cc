#include "planner/physical/flow.h"

#include <algorithm>
#include <utility>

namespace koios::planner {

bool LeavesOneRow(const Op& op, bool before) {
  if (EndsHistory(op)) return As<Group>(op) == nullptr || !As<Group>(op)->rows;
  if (As<Filter>(op) || As<Project>(op) || As<Order>(op) || As<Barrier>(op)) return before;
  const Scope* scope = As<Scope>(op);
  return before && scope != nullptr && scope->policy != plan::ScopeExit::ALL &&
         scope->policy != plan::ScopeExit::OPTIONAL;
}

Flow JoinFlows(std::vector<Flow> flows) {
  Flow joined = std::move(flows[0]);
  for (size_t i = 1; i < flows.size(); ++i) {
    Flow& other = flows[i];
    joined.ends.insert(joined.ends.end(), other.ends.begin(), other.ends.end());
    std::erase_if(joined.here, [&other](uint32_t slot) { return !other.here.contains(slot); });
    joined.at_home = joined.at_home && other.at_home;
    joined.ordered = joined.ordered && other.ordered;
    joined.writes = joined.writes || other.writes;
    joined.reads = joined.reads || other.reads;
    joined.types = JoinEnvs(joined.types, other.types);
  }
  joined.mixed = true;  // branches overtake each other
  return joined;
}

}  // namespace koios::planner
