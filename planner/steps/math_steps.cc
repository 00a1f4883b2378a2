// math(): one expression over the values of the names in its equation.
#include <map>

#include "planner/steps/expressions/by.h"
#include "planner/steps/expressions/equation.h"
#include "planner/steps/expressions/label.h"
#include "planner/steps/steps.h"

namespace koios::planner {

Status BuildMath(const StepCall& step, Builder* builder) {
  const std::string& equation = step.args[0].value.AsString();
  const auto placed = [&step](const Status& status) {
    ErrorDetail detail;
    detail.span = step.args[0].span;
    detail.step = "math()";
    return WithDetail(status, detail);
  };
  const StatusOr<std::vector<std::string>> names = VariablesOf(equation);
  if (!names.ok()) return placed(names.status());
  std::map<std::string, ExpressionPtr> values;
  for (size_t i = 0; i < names->size(); ++i) {
    const std::string& name = (*names)[i];
    ExpressionPtr source = Current();
    if (name != "_") {
      ASSIGN_OR_RETURN(source, RequiredLabel(name, step.args[0].span, step.name(), builder));
    }
    ASSIGN_OR_RETURN(ExpressionPtr value,
                     BuildBy(ByAt(step, i), source, plan::Project::DROP_ROW, step, builder));
    ExpressionPtr number = CallOf("as_double", {std::move(value)});
    values[name] = Named(builder->Store(number));
  }
  const StatusOr<ExpressionPtr> result =
      EquationExpression(equation, [&values](const std::string& name) { return values.at(name); });
  if (!result.ok()) return placed(result.status());
  builder->Emit(Project{*result, "", plan::Project::DROP_ROW});
  return OkStatus();
}

}  // namespace koios::planner
