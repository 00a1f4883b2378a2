// limit() moves before projections that keep every row, and two limits in a row become one.
#include <algorithm>

#include "planner/op_table.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// Bounds the work in long chains.
constexpr size_t kMaxMoves = 64;

// [a, b) of [c, d) in one; counts stay below the largest long.
Limit Combine(const Limit& first, const Limit& second) {
  auto add = [](int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; };
  Limit both;
  both.low = add(first.low, second.low);
  const int64_t end = second.high == -1 ? -1 : add(first.low, second.high);
  both.high = first.high == -1 ? end : end == -1 ? first.high : std::min(first.high, end);
  if (both.high != -1) both.low = std::min(both.low, both.high);
  return both;
}

bool MoveUp(Chain* chain, size_t i) {
  bool changed = false;
  for (size_t moves = 0; moves < kMaxMoves && i > 0 && TraitsOf(chain->ops[i - 1]).every_row;
       ++moves) {
    // What is skipped behind a change is changed all the same: only the end moves before it.
    Limit* limit = As<Limit>(&chain->ops[i]);
    if (limit->low > 0 && ChangesGraph(chain->ops[i - 1])) {
      if (limit->high == -1) return changed;
      Op skip = chain->ops[i];
      skip.body = Limit{limit->low, -1};
      limit->low = 0;
      chain->ops.insert(chain->ops.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(skip));
    }
    std::swap(chain->ops[i], chain->ops[i - 1]);
    --i;
    changed = true;
  }
  if (i == 0) return changed;
  Limit* before = As<Limit>(&chain->ops[i - 1]);
  if (before == nullptr) return changed;
  *before = Combine(*before, *As<Limit>(chain->ops[i]));
  chain->ops[i - 1].step += "." + chain->ops[i].step;
  chain->ops.erase(chain->ops.begin() + static_cast<std::ptrdiff_t>(i));
  return true;
}

}  // namespace

bool EarlyLimit(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (size_t i = 1; i < chain->ops.size(); ++i) {
      if (As<Limit>(chain->ops[i]) && MoveUp(chain, i)) {
        changed = true;
        --i;
      }
    }
    return changed;
  });
}

}  // namespace koios::planner
