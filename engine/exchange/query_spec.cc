#include <algorithm>

#include "engine/exchange/frame.h"
#include "storage/view/owned_view.h"

namespace koios::engine {

QueryNumbers QuerySpec::Numbers() const {
  QueryNumbers numbers;
  numbers.memory_bytes = static_cast<uint64_t>(std::max<int64_t>(account->used(), 0));
  numbers.peak_bytes = static_cast<uint64_t>(account->peak());
  numbers.slices = live.slices.load(std::memory_order_relaxed);
  numbers.credit_waits = live.Sum(&OperatorStats::credit_waits);
  numbers.credit_wait_ns = live.Sum(&OperatorStats::credit_wait_ns);
  numbers.spilled_bytes = live.Sum(&OperatorStats::spilled_bytes);
  numbers.rows_dropped = live.Sum(&OperatorStats::rows_dropped);
  return numbers;
}

void QuerySpec::SetViews(bool isolated, uint32_t num_workers) {
  const bool in_parts = plan.at_owners() && options.transaction != nullptr;
  if (num_workers == 1 || (!isolated && !in_parts)) return;
  if (options.transaction != nullptr) view = options.transaction->base();
  for (uint32_t index = 0; index < num_workers; ++index) {
    views.push_back(std::make_shared<storage::OwnedView>(view, index, num_workers));
  }
  if (options.transaction == nullptr) return;
  parts = options.transaction->Split(views);
  views.assign(parts.begin(), parts.end());
}

}  // namespace koios::engine
