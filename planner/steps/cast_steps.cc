// asNumber(), asBool(), asDate(), dateAdd() and dateDiff(): each is the function of the table that
// has its name.
#include "core/convert/type_name.h"
#include "planner/plan_error.h"
#include "planner/steps/expressions/by.h"
#include "planner/steps/expressions/local_form.h"
#include "planner/steps/steps.h"

namespace koios::planner {

namespace {

int64_t SecondsOfUnit(std::string_view unit) {
  if (unit == "second") return 1;
  if (unit == "minute") return 60;
  return unit == "hour" ? 3'600 : 86'400;
}

}  // namespace

Status BuildCast(const StepCall& step, Builder* builder) {
  const plan::FunctionTraits* function = plan::FindFunction(step.name());
  CHECK(function != nullptr);  // the catalogue has this build function for such steps only
  return EmitList(*function, {}, builder);
}

Status BuildAsNumber(const StepCall& step, Builder* builder) {
  if (step.args.empty()) return EmitList("asNumber", {Constant(Value::Null())}, builder);
  const Bound& type = step.args[0];
  if (NumberKindOfType(type.name).has_value()) {
    return EmitList("asNumber", {StringConstant(type.name)}, builder);
  }
  return StepError("WRONG_ARGUMENTS", type.span, step.name(),
                   "asNumber() requires a numeric type token, got " + type.name,
                   "GType.BYTE, SHORT, INT, LONG, BIGINT, FLOAT, DOUBLE and BIGDECIMAL are such");
}

Status BuildDateAdd(const StepCall& step, Builder* builder) {
  const Value seconds = Value::Long(SecondsOfUnit(step.args[0].name));
  return EmitList("dateAdd", {Constant(seconds), Constant(step.args[1].value)}, builder);
}

Status BuildDateDiff(const StepCall& step, Builder* builder) {
  const Bound& argument = step.args[0];
  ExpressionPtr other;
  if (argument.IsTraversal()) {
    ASSIGN_OR_RETURN(
        other, BuildByArgument(argument, Current(), plan::Project::LEAVE_ABSENT, step, builder));
  } else {
    other = Constant(argument.value);
  }
  return EmitList("dateDiff", {std::move(other)}, builder);
}

}  // namespace koios::planner
