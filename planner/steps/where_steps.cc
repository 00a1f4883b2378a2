#include <algorithm>

#include "planner/plan_error.h"
#include "planner/steps/expressions/by.h"
#include "planner/steps/expressions/label.h"
#include "planner/steps/expressions/predicate.h"
#include "planner/steps/expressions/running_flag.h"
#include "planner/steps/steps.h"

namespace koios::planner {
namespace {

Status EmitCondition(const Bound& child, plan::ScopeExit::Policy policy, LabelMode mode,
                     Builder* builder) {
  ASSIGN_OR_RETURN(Chain body, builder->Child(child, mode));
  builder->Emit(ScopeOf(policy, "", plan::Project::DROP_ROW, std::move(body)));
  return OkStatus();
}

// Whether elements are compared by their ids: whether one comes before another.
bool HasOrdering(const Bound& predicate) {
  if (!predicate.IsPredicate()) return false;
  const std::string& name = predicate.name;
  const plan::FunctionTraits* function = plan::FindFunction(name);
  return (function != nullptr && function->Has(plan::kOrdering)) || name == "between" ||
         name == "inside" || name == "outside" ||
         std::any_of(predicate.items.begin(), predicate.items.end(), HasOrdering);
}

// where(eq('a')), where('a', eq('b')): values of labels are compared, through by() in turn.
Status BuildWherePredicate(const StepCall& step, Builder* builder) {
  const bool has_start = step.args.size() == 2;
  const Bound& predicate = step.args.back();
  ExpressionPtr start = Current();
  if (has_start) {
    ASSIGN_OR_RETURN(start, RequiredLabel(step.args[0].value.AsString(), step.args[0].span,
                                          step.name(), builder));
  }
  const bool orders = HasOrdering(predicate);
  const auto by = [&](size_t i, const ExpressionPtr& value) -> StatusOr<ExpressionPtr> {
    ASSIGN_OR_RETURN(ExpressionPtr seen,
                     BuildBy(ByAt(step, i), value, plan::Project::DROP_ROW, step, builder));
    return orders ? WithId(seen, *builder) : seen;
  };
  ASSIGN_OR_RETURN(ExpressionPtr subject, by(0, start));
  size_t next_by = 1;
  auto operand = [&](const Bound& item) -> StatusOr<ExpressionPtr> {
    if (!item.IsString()) {
      return StepError(
          "WRONG_ARGUMENTS", item.span, step.name(),
          "a predicate of where() compares with a label, not with " + DescribeBound(item),
          "is() compares with constants");
    }
    ASSIGN_OR_RETURN(const ExpressionPtr value,
                     RequiredLabel(item.value.AsString(), item.span, step.name(), builder));
    return by(next_by++, value);
  };
  ASSIGN_OR_RETURN(ExpressionPtr condition,
                   BuildPredicate(predicate, subject, step.name(), operand));
  builder->Emit(Filter{std::move(condition)});
  return OkStatus();
}

}  // namespace

Status BuildWhere(const StepCall& step, Builder* builder) {
  if (!step.args.back().IsTraversal()) return BuildWherePredicate(step, builder);
  if (!step.bys.empty()) {
    return StepError("WRONG_ARGUMENTS", step.bys[0].call->span, "by",
                     "where() takes by() only with a predicate, as in where('a', gt('b'))");
  }
  return EmitCondition(step.args[0], plan::ScopeExit::EXISTS,
                       step.name() == "where" ? LabelMode::kVariables : builder->mode(), builder);
}

Status BuildNot(const StepCall& step, Builder* builder) {
  return EmitCondition(step.args[0], plan::ScopeExit::NONE, builder->mode(), builder);
}

Status BuildAndOr(const StepCall& step, Builder* builder) {
  if (step.name() == "and") {
    for (const Bound& child : step.args) {
      RETURN_IF_ERROR(EmitCondition(child, plan::ScopeExit::EXISTS, builder->mode(), builder));
    }
    return OkStatus();
  }
  std::vector<ExpressionPtr> flags;
  RunningFlag any("or"), none("and");
  const bool lenient = builder->is_lenient();
  for (const Bound& child : step.args) {
    ASSIGN_OR_RETURN(Chain body, builder->Child(child, builder->mode()));
    AskOnlyUndecided(&any, &none, builder, &body);
    flags.push_back(builder->EmitFlag(std::move(body)));
    any.Add(flags.back());
    builder->set_lenient(true);  // all are asked, though one may have decided
  }
  builder->set_lenient(lenient);
  builder->Emit(Filter{CallOf("or", std::move(flags))});
  return OkStatus();
}

}  // namespace koios::planner
