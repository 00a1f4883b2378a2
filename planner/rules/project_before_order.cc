// order().by('age').values('name') reads the names before it sorts: the rows need not go back to
// their owners. Only what gives at most one value per row, and only when the keys are stored.
#include <algorithm>

#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

bool KeysAreStored(const Order& order) {
  return std::all_of(order.keys.begin(), order.keys.end(),
                     [](const OrderKey& key) { return !key.name.empty(); });
}

bool GivesAtMostOne(const Op& op) {
  if (const Project* project = As<Project>(op)) return IsPure(*project->value);
  const Fetch* fetch = As<Fetch>(op);
  return fetch != nullptr && fetch->keys.size() == 1;
}

bool WritesKey(const Op& op, const Order& order) {
  const std::string& written = StoredName(op);
  return !written.empty() && std::any_of(order.keys.begin(), order.keys.end(),
                                         [&](const OrderKey& key) { return key.name == written; });
}

}  // namespace

bool ProjectBeforeOrder(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (size_t i = 0; i + 1 < chain->ops.size(); ++i) {
      const Order* order = As<Order>(chain->ops[i]);
      if (order == nullptr || order->limit > 0 || !KeysAreStored(*order) ||
          !GivesAtMostOne(chain->ops[i + 1]) || WritesKey(chain->ops[i + 1], *order)) {
        continue;
      }
      std::swap(chain->ops[i], chain->ops[i + 1]);
      changed = true;
    }
    return changed;
  });
}

}  // namespace koios::planner
