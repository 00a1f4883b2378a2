#include "planner/plan_error.h"
#include "planner/steps/by.h"
#include "planner/steps/path.h"
#include "planner/steps/steps.h"

namespace koios::planner {
namespace {

// The path, or its part between from() and to().
StatusOr<ExpressionPtr> BuildRange(const StepCall& step) {
  if (step.from_tos.empty()) return Named(kPathName);
  Value from, to;
  for (const Modulator& end : step.from_tos) {
    if (end.args.size() != 1 || !end.args[0].IsString()) {
      return StepError(
          "WRONG_ARGUMENTS", end.call->span, end.call->name,
          end.call->name + "() takes a label behind " + std::string(step.name()) + "()");
    }
    (end.call->name == "from" ? from : to) = end.args[0].value;
  }
  return CallOf("path_range", {Named(kPathName), Constant(from), Constant(to)});
}

// Gives the values of the objects, each by the by() whose turn it is.
Status BuildTurns(const StepCall& step, const std::string& number, Builder* body) {
  const auto count = static_cast<int64_t>(step.bys.size());
  if (count == 1) {
    ASSIGN_OR_RETURN(ExpressionPtr value,
                     BuildBy(&step.bys[0], Current(), plan::Project::DROP_ROW, step, body));
    body->Emit(Project{std::move(value), "", plan::Project::DROP_ROW});
    return OkStatus();
  }
  Split split;
  for (int64_t i = 0; i < count; ++i) {
    Builder branch = body->Inner(body->env());
    ASSIGN_OR_RETURN(ExpressionPtr value, BuildBy(&step.bys[static_cast<size_t>(i)], Current(),
                                                  plan::Project::DROP_ROW, step, &branch));
    branch.Emit(Project{std::move(value), "", plan::Project::DROP_ROW});
    split.branches.push_back(branch.Take());
    const ExpressionPtr turn = CallOf("turn", {Named(number), Constant(Value::Long(count))});
    split.tests.push_back(CallOf("eq", {turn, Constant(Value::Long(i))}));
  }
  body->Emit(std::move(split));
  return OkStatus();
}

// The path with each object as its by() sees it, absent when one gives nothing: a child looks at
// the objects, which are owned by many, and groups what they give by their number.
StatusOr<ExpressionPtr> BuildPathBys(const StepCall& step, const ExpressionPtr& path,
                                     Builder* builder) {
  if (step.bys.empty()) return path;
  const ExpressionPtr source = Named(builder->Store(path));
  Builder body = builder->Inner(TypeEnv{});  // an object by itself: it has no labels
  body.Emit(Project{CallOf("path_entries", {source}), "", plan::Project::DROP_ROW});
  body.Emit(Unfold{});
  const std::string number = body.FreshName('n');
  body.Emit(Project{CallOf("entry_key", {Current()}), number, plan::Project::LEAVE_ABSENT});
  body.Emit(Project{CallOf("entry_value", {Current()}), "", plan::Project::DROP_ROW});
  body.Emit(NewPath());
  RETURN_IF_ERROR(BuildTurns(step, number, &body));
  body.Emit(Group{number, "", plan::Group::FIRST});
  const std::string values = builder->FreshName('b');
  builder->Emit(ScopeOf(plan::ScopeExit::FIRST, values, plan::Project::DROP_ROW, body.Take()));
  return CallOf("path_by", {source, Named(values)});
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
