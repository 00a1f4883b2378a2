// order().limit(k) keeps k rows while it sorts.
#include <algorithm>

#include "planner/rules/rules.h"

namespace koios::planner {

namespace {

// A row's place is drawn once, among all of them.
bool Shuffles(const Order& order) {
  return std::any_of(order.keys.begin(), order.keys.end(),
                     [](const auto& key) { return key.direction == plan::SortKey::SHUFFLE; });
}

}  // namespace

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
