// out().count() adds up degrees; the edges are not walked. COUNT_OF of nothing is 0, as COUNT is.
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

bool KeepsNumberOfRows(const Op& op) {
  const EdgeEnd* end = As<EdgeEnd>(op);
  return end != nullptr && end->end != plan::EdgeEnd::BOTH_VERTICES;
}

// Whether the expansion at `i` is counted; then where the count is.
size_t CountBehind(const Chain& chain, size_t i) {
  const Expand* expand = As<Expand>(chain.ops[i]);
  if (expand == nullptr || expand->to == plan::Expand::DEGREE) return 0;
  size_t at = i + 1;
  while (at < chain.ops.size() && KeepsNumberOfRows(chain.ops[at])) ++at;
  if (at == chain.ops.size()) return 0;
  const Reduce* reduce = As<Reduce>(chain.ops[at]);
  return reduce != nullptr && reduce->function == plan::Reduce::COUNT ? at : 0;
}

}  // namespace

bool CountDegrees(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (size_t i = 0; i < chain->ops.size(); ++i) {
      const size_t count = CountBehind(*chain, i);
      if (count == 0) continue;
      As<Expand>(&chain->ops[i])->to = plan::Expand::DEGREE;
      As<Reduce>(&chain->ops[count])->function = plan::Reduce::COUNT_OF;
      chain->ops.erase(chain->ops.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                       chain->ops.begin() + static_cast<std::ptrdiff_t>(count));
      changed = true;
    }
    return changed;
  });
}

}  // namespace koios::planner
