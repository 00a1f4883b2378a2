// order().limit(k) keeps k rows while it sorts.
#include "planner/op_table.h"
#include "planner/rules/rules.h"

namespace koios::planner {
bool TopK(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (size_t i = 0; i + 1 < chain->ops.size(); ++i) {
      Order* order = As<Order>(&chain->ops[i]);
      const Limit* limit = As<Limit>(chain->ops[i + 1]);
      if (order == nullptr || limit == nullptr || limit->high <= 0 || order->limit > 0) continue;
      if (Shuffles(*order)) continue;
      order->limit = limit->high;
      changed = true;
      if (limit->low > 0) continue;
      chain->ops[i].step += "." + chain->ops[i + 1].step;
      chain->ops.erase(chain->ops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    return changed;
  });
}

}  // namespace koios::planner
