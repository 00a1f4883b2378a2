#include "planner/steps/expressions/local_form.h"

#include <utility>

namespace koios::planner {

bool IsLocal(const StepCall& step) {
  return !step.args.empty() && step.args[0].IsEnum("Scope") && step.args[0].name == "local";
}

Status EmitList(plan::FunctionRef function, std::vector<ExpressionPtr> args, Builder* builder) {
  args.insert(args.begin(), Current());
  builder->Emit(Project{CallOf(function, std::move(args)), "", plan::Project::DROP_ROW});
  return OkStatus();
}

}  // namespace koios::planner
