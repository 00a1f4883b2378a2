#include "engine/exchange/frame.h"
#include "storage/view/owned_view.h"

namespace koios::engine {

void QuerySpec::Isolate(uint32_t num_workers) {
  if (num_workers == 1) return;
  if (options.transaction != nullptr) view = options.transaction->base();
  for (uint32_t index = 0; index < num_workers; ++index) {
    views.push_back(std::make_shared<storage::OwnedView>(view, index, num_workers));
  }
  if (options.transaction == nullptr) return;
  parts = options.transaction->Split(views);
  views.assign(parts.begin(), parts.end());
}

}  // namespace koios::engine
