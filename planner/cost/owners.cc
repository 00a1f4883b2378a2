#include "planner/cost/owners.h"

#include <algorithm>

#include "planner/cost/cost_model.h"
#include "planner/op_table.h"

namespace koios::planner {
namespace {

// Vertices and edges: with fewer there is nothing to share.
constexpr uint64_t kFewElements = 50'000;
// Some 20 ms of one worker: what it takes to wake the others is not seen beside it.
constexpr double kWorth = 1'000'000;

// Scans, but for what an index gives or is looked up.
bool ReadsMany(const Chain& chain) {
  return std::any_of(chain.ops.begin(), chain.ops.end(), [](const Op& op) {
    const Source* source = As<Source>(op);
    if (source != nullptr && !source->ids && !source->seek) return true;
    const std::vector<Chain>* children = ChildrenOf(op);
    return children != nullptr && std::any_of(children->begin(), children->end(), ReadsMany);
  });
}

// A limit that ends what is before it, where that goes row by row.
bool MayStopEarly(const Chain& root) {
  for (const Op& op : root.ops) {
    const OpTraits traits = TraitsOf(op);
    if (traits.gathers || traits.waits) return false;
    if (As<Limit>(op) || As<TimeLimit>(op)) return true;
  }
  return false;
}

}  // namespace

bool IsForOwners(const Chain& root) {
  if (!HasEffects(root) || !ReadsMany(root) || MayStopEarly(root)) return false;
  if (!SourceOfAll(root).graph.HasAtLeast(kFewElements)) return false;
  return CostModel(root).PassAll(root, Stream()).work >= kWorth;
}

}  // namespace koios::planner
