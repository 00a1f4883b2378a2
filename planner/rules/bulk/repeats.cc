#include "planner/rules/bulk/repeats.h"

#include <algorithm>

#include "planner/op_table.h"

namespace koios::planner {
namespace {

bool HasTests(const LoopTests& tests) { return tests.until != nullptr || tests.emit != nullptr; }

// At the start of an iteration; `again`: of the next one.
bool AtStart(const Loop& loop, bool behind, bool again) {
  bool enough = behind && again;
  for (size_t part = loop.parts.size(); part-- > 1;) enough = OneIsEnough(loop.parts[part], enough);
  if (HasTests(loop.before)) enough = enough && behind;
  return OneIsEnough(loop.parts[0], enough);
}

bool TakesAsItComes(const Op& op) {
  return !AnyOp(op, [](const Op& each) {
    const OpTraits traits = TraitsOf(each);
    return !traits.takes_bulk || traits.effect;
  });
}

}  // namespace

bool OneIsEnough(const Op& op, bool behind) {
  const RepeatsSeen repeats = TraitsOf(op).repeats;
  if (repeats != RepeatsSeen::kAsBehind) return repeats == RepeatsSeen::kHidden;
  // What an iteration asks for is so if it follows from the same of the next one.
  if (const Loop* loop = As<Loop>(op)) {
    return GivesTheSame(op) && AtStart(*loop, behind, behind);
  }
  if (const Split* split = As<Split>(op)) {
    return GivesTheSame(op) &&
           std::all_of(split->branches.begin(), split->branches.end(),
                       [behind](const Chain& branch) { return OneIsEnough(branch, behind); });
  }
  return behind && GivesTheSame(op);
}

bool OneIsEnough(const Chain& chain, bool behind) {
  for (auto op = chain.ops.rbegin(); op != chain.ops.rend(); ++op)
    behind = OneIsEnough(*op, behind);
  return behind;
}

std::vector<bool> OneIsEnoughInLoop(const Loop& loop, bool behind) {
  std::vector<bool> enough(loop.parts.size());
  bool now = behind && AtStart(loop, behind, behind);
  for (size_t part = loop.parts.size(); part-- > 0;) {
    if (part == 0 && HasTests(loop.before)) now = now && behind;
    enough[part] = now;
    now = OneIsEnough(loop.parts[part], now);
  }
  return enough;
}

bool CountsIterations(const Op& loop) {
  return AnyOp(loop, [](const Op& each) {
    bool counts = false;
    ForEachExpression(each, [&counts](const Expression& part) {
      counts = counts || HasCallWith(part, plan::kReadsIteration);
    });
    return counts;
  });
}

bool MayComeAsBulk(const Chain& chain, size_t from) {
  // Where sacks are put together a row counts once, whatever its bulk is.
  if (AnyOp(chain, [](const Op& op) { return As<Barrier>(op) && As<Barrier>(op)->sacks; })) {
    return false;
  }
  for (size_t i = from; i < chain.ops.size(); ++i) {
    const Op& op = chain.ops[i];
    if (!TakesAsItComes(op)) return false;
    switch (TraitsOf(op).order) {
      case OrderSeen::kHidden:
        return true;
      case OrderSeen::kShown:
        return false;
      case OrderSeen::kAsBehind:
        break;
    }
  }
  return false;
}

}  // namespace koios::planner
