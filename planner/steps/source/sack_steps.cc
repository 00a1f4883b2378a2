// sack(), and what may stand between g and the first step only.
#include "planner/plan_error.h"
#include "planner/steps/expressions/by.h"
#include "planner/steps/steps.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

// Where nothing in the query changes it a sack is what it begins with.
ExpressionPtr SackOf(const Builder& builder) {
  const SackSettings& sacks = builder.sacks();
  return sacks.written ? CarriedSack(sacks.initial, builder.env()) : Constant(sacks.initial);
}

}  // namespace

Status BuildSack(const StepCall& step, Builder* builder) {
  if (step.args.empty()) {
    if (!step.bys.empty()) {
      return StepError("WRONG_ARGUMENTS", step.bys[0].call->span, "by",
                       "sack() takes by() only with an operator, as in sack(sum).by('weight')");
    }
    builder->Emit(Project{SackOf(*builder), "", plan::Project::DROP_ROW});
    return OkStatus();
  }
  RETURN_IF_ERROR(CheckByCount(step, 1));
  ASSIGN_OR_RETURN(ExpressionPtr value,
                   BuildBy(ByAt(step, 0), Current(), plan::Project::DROP_ROW, step, builder));
  const std::string& name = step.args[0].name;
  if (name != "assign") {
    value = CallOf("operated", {StringConstant(name), SackOf(*builder), std::move(value)});
  }
  builder->Emit(StoreSack(std::move(value)));
  return OkStatus();
}

Status BuildConfiguration(const StepCall& step, Builder*) {
  return StepError("MISPLACED_STEP", step.span(), step.name(),
                   std::string(step.name()) + "() stands between g and the first step");
}

}  // namespace koios::planner
