// group().unfold(), groupCount().unfold(): nobody asks for the map as one value, so that each group
// goes on by itself, as an entry. Then groups stay at the owners of their keys, and may go to disk.
#include "planner/op_table.h"
#include "planner/rules/rules.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

const char kKey[] = "~key";  // of groups by what is current

bool GivesMap(const Op& op) {
  const Group* group = As<Group>(op);
  return group != nullptr && !group->rows && group->side_effect.empty();
}

}  // namespace

bool UnfoldGroups(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (size_t i = 0; i + 1 < chain->ops.size(); ++i) {
      Op& unfold = chain->ops[i + 1];
      if (!GivesMap(chain->ops[i]) || As<Unfold>(unfold) == nullptr) continue;
      Group* group = As<Group>(&chain->ops[i]);
      const bool by_current = group->key.empty();
      if (by_current) group->key = kKey;
      group->rows = true;
      std::vector<ExpressionPtr> pair = {Named(group->key), Current()};
      unfold.body = Project{CallOf("map_of", std::move(pair)), "", plan::Project::DROP_ROW};
      if (by_current) {
        const Op& of = chain->ops[i];
        Op key{Project{Current(), kKey, plan::Project::DROP_ROW}, of.span, of.step};
        chain->ops.insert(chain->ops.begin() + static_cast<std::ptrdiff_t>(i), std::move(key));
      }
      changed = true;
    }
    return changed;
  });
}

}  // namespace koios::planner
