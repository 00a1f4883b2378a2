#include "planner/plan_error.h"
#include "planner/steps/expressions/by.h"
#include "planner/steps/steps.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

// The path, or its part between from() and to().
StatusOr<ExpressionPtr> BuildRange(const StepCall& step) {
  if (step.from_tos.empty()) return CarriedPath();
  Value from, to;
  for (const Modulator& end : step.from_tos) {
    if (end.args.size() != 1 || !end.args[0].IsString()) {
      return StepError(
          "WRONG_ARGUMENTS", end.call->span, end.call->name,
          end.call->name + "() takes a label behind " + std::string(step.name()) + "()");
    }
    (end.call->name == "from" ? from : to) = end.args[0].value;
  }
  return CallOf("path_range", {CarriedPath(), Constant(from), Constant(to)});
}

// The path with each object as its by() sees it, absent when one gives nothing.
StatusOr<ExpressionPtr> BuildPathBys(const StepCall& step, const ExpressionPtr& path,
                                     Builder* builder) {
  if (step.bys.empty()) return path;
  const ExpressionPtr source = Named(builder->Store(path));
  ASSIGN_OR_RETURN(ExpressionPtr values,
                   BuildBysOfEntries(CallOf("path_entries", {source}), step, builder));
  return CallOf("path_by", {source, std::move(values)});
}

StatusOr<ExpressionPtr> BuildWholePath(const StepCall& step, Builder* builder) {
  ASSIGN_OR_RETURN(const ExpressionPtr path, BuildRange(step));
  return BuildPathBys(step, path, builder);
}

}  // namespace

Status BuildPath(const StepCall& step, Builder* builder) {
  ASSIGN_OR_RETURN(ExpressionPtr path, BuildWholePath(step, builder));
  builder->Emit(Project{std::move(path), "", plan::Project::DROP_ROW});
  return OkStatus();
}

Status BuildPathFilter(const StepCall& step, Builder* builder) {
  ASSIGN_OR_RETURN(ExpressionPtr path, BuildWholePath(step, builder));
  const bool simple = step.name() == "simplePath";
  builder->Emit(Filter{
      CallOf("eq", {CallOf("is_simple", {std::move(path)}), Constant(Value::Bool(simple))})});
  return OkStatus();
}

}  // namespace koios::planner
