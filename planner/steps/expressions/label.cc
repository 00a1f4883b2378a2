#include "planner/steps/expressions/label.h"

#include "planner/plan_error.h"
#include "planner/steps/side_effects.h"

namespace koios::planner {
namespace {

bool MayBeMap(ValueType type) { return IsUnknown(type) || type == ValueType::kMap; }

}  // namespace

ExpressionPtr EntryOr(const std::string& label, ExpressionPtr stored, const Builder& builder) {
  if (!MayBeMap(builder.env().current)) return stored;
  return CallOf("first_of",
                {CallOf("map_get", {Current(), StringConstant(label)}), std::move(stored)});
}

StatusOr<ExpressionPtr> ValueOfLabel(const std::string& label, const SourceSpan& span,
                                     std::string_view step, const Builder& builder) {
  if (IsSideEffect(label, builder)) {
    ASSIGN_OR_RETURN(ExpressionPtr effect, SideEffectValue(label, span, step, builder));
    return EntryOr(label, std::move(effect), builder);
  }
  if (builder.env().names.contains(label)) return EntryOr(label, Named(label), builder);
  return CallOf("map_get", {Current(), StringConstant(label)});
}

StatusOr<ExpressionPtr> RequiredLabel(const std::string& label, const SourceSpan& span,
                                      std::string_view step, Builder* builder) {
  if (!IsSideEffect(label, *builder) && !builder->env().names.contains(label) &&
      !MayBeMap(builder->env().current)) {
    return StepError("UNKNOWN_LABEL", span, step,
                     "no step before it is labelled \"" + label +
                         "\", and no step gathers a side-effect of that name");
  }
  ASSIGN_OR_RETURN(ExpressionPtr value, ValueOfLabel(label, span, step, *builder));
  if (!builder->is_lenient() && !IsAlwaysThere(*value, builder->env())) {
    builder->Emit(Filter{CallOf("require_label", {value, StringConstant(label)})});
  }
  return value;
}

}  // namespace koios::planner
