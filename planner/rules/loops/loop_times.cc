#include "planner/rules/loops/loop_times.h"

namespace koios::planner {

int64_t TimesOf(const ExpressionPtr& until) {
  if (until == nullptr || !IsCall(*until, "gte")) return 0;
  const Expression& loops = *until->args[0];
  const Expression& times = *until->args[1];
  if (!IsCall(loops, "loops") || times.kind != Expression::Kind::kConstant ||
      times.constant.kind() < ValueKind::kByte || times.constant.kind() > ValueKind::kLong) {
    return 0;
  }
  return times.constant.AsInteger();
}

bool LeavesAtOnce(const Loop& loop) {
  if (loop.before.emit || loop.behind.emit) return false;
  const ExpressionPtr& until = loop.before.until ? loop.before.until : loop.behind.until;
  return until == nullptr || TimesOf(until) > 0;
}

}  // namespace koios::planner
