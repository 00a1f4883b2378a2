#include "planner/plan_error.h"

namespace koios::planner {
namespace {

ErrorDetail DetailAt(std::string_view reason, const SourceSpan& span, std::string_view step) {
  ErrorDetail detail;
  detail.reason = std::string(reason);
  detail.span = span;
  if (!step.empty()) detail.step = std::string(step) + "()";
  return detail;
}

}  // namespace

Status StepError(std::string_view reason, const SourceSpan& span, std::string_view step,
                 std::string_view message, std::string_view hint) {
  ErrorDetail detail = DetailAt(reason, span, step);
  detail.hint = std::string(hint);
  return InvalidArgument(message, detail);
}

Status NotThereYet(const SourceSpan& span, std::string_view step, std::string_view message) {
  return Unimplemented(message, DetailAt("NOT_THERE_YET", span, step));
}

}  // namespace koios::planner
