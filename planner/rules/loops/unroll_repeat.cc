// repeat(out()).times(3) becomes out().out().out() where the body is a plain way through the graph:
// the last hop can then be counted by its degrees, and nothing is tested per iteration.
#include "planner/rules/loops/loop_times.h"
#include "planner/rules/rules.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

constexpr int64_t kMaxTimes = 16;
constexpr size_t kMaxOps = 64;  // of what a loop becomes

// Does the same in every iteration, and remembers nothing.
bool IsPlain(const Op& op) {
  if (As<Expand>(op) || As<EdgeEnd>(op)) return true;
  const Filter* filter = As<Filter>(op);
  if (filter != nullptr) return !HasCallWith(*filter->predicate, plan::kReadsIteration);
  const Project* project = As<Project>(op);
  return project != nullptr && StoresCarried(op) && IsCurrent(*project->value);
}

// What the loop becomes; empty: it stays.
std::vector<Op> Unrolled(const Loop& loop) {
  if (loop.before.until || loop.before.emit || loop.behind.emit) return {};
  const int64_t times = TimesOf(loop.behind.until);
  const std::vector<Op>& body = loop.parts[1].ops;
  if (times < 1 || times > kMaxTimes || !loop.parts[0].ops.empty() || !loop.parts[2].ops.empty() ||
      body.size() * static_cast<size_t>(times) > kMaxOps) {
    return {};
  }
  for (const Op& op : body) {
    if (!IsPlain(op)) return {};
  }
  std::vector<Op> ops;
  for (int64_t i = 0; i < times; ++i) ops.insert(ops.end(), body.begin(), body.end());
  return ops;
}

}  // namespace

bool UnrollRepeat(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (size_t i = 0; i < chain->ops.size(); ++i) {
      const Loop* loop = As<Loop>(chain->ops[i]);
      if (loop == nullptr) continue;
      std::vector<Op> ops = Unrolled(*loop);
      if (ops.empty()) continue;
      const auto at = chain->ops.erase(chain->ops.begin() + static_cast<std::ptrdiff_t>(i));
      chain->ops.insert(at, ops.begin(), ops.end());
      i += ops.size() - 1;
      changed = true;
    }
    return changed;
  });
}

}  // namespace koios::planner
