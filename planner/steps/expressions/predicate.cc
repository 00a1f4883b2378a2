#include "planner/steps/expressions/predicate.h"

#include "planner/plan_error.h"

namespace koios::planner {
namespace {

// Of the second argument of side_effect(): whether it gathers members.
bool IsBag(const Expression& kind) {
  return kind.constant.kind() == ValueKind::kString ||
         (kind.constant.kind() == ValueKind::kBool && !IsTrue(kind));
}

class PredicateBuilder {
 public:
  PredicateBuilder(std::string_view step, const ExpressionPtr& subject,
                   const OperandFunction& operand)
      : step_(step), subject_(subject), operand_(operand) {}

  StatusOr<ExpressionPtr> Build(const Bound& predicate) {
    if (!predicate.IsPredicate()) {
      return StepError("WRONG_ARGUMENTS", predicate.span, step_,
                       "a predicate is wanted here, not " + DescribeBound(predicate));
    }
    const std::string& name = predicate.name;
    if (const plan::FunctionTraits* function = plan::FindFunction(name)) {
      if (function->Has(plan::kComparison)) return Unary(predicate, *function);
      if (function->Has(plan::kTextTest)) return Text(predicate, *function);
      if (function->Has(plan::kMembership)) return Membership(predicate, *function);
    }
    if (name == "inside") return Pair(predicate, "and", "gt", "lt");
    if (name == "outside") return Pair(predicate, "or", "lt", "gt");
    if (name == "between") return Pair(predicate, "and", "gte", "lt");
    if (name == "and") return Combined(predicate, "and");
    if (name == "or") return Combined(predicate, "or");
    if (name == "not") return Negated(predicate);
    if (name == "typeOf") return TypeTest(predicate);
    return NotThereYet(predicate.span, step_, "the predicate " + name + " is not there yet");
  }

  bool negated() const { return negated_; }

 private:
  Status Arity(const Bound& predicate, size_t wanted) {
    if (predicate.items.size() == wanted) return OkStatus();
    return StepError("WRONG_ARGUMENTS", predicate.span, step_,
                     "the predicate " + predicate.name + " takes " + std::to_string(wanted) +
                         (wanted == 1 ? " argument, not " : " arguments, not ") +
                         std::to_string(predicate.items.size()));
  }

  StatusOr<ExpressionPtr> Unary(const Bound& predicate, plan::FunctionRef function) {
    RETURN_IF_ERROR(Arity(predicate, 1));
    ASSIGN_OR_RETURN(ExpressionPtr operand, operand_(predicate.items[0]));
    return CallOf(function, {subject_, std::move(operand)});
  }

  StatusOr<ExpressionPtr> Text(const Bound& predicate, plan::FunctionRef function) {
    RETURN_IF_ERROR(Arity(predicate, 1));
    if (!predicate.items[0].IsString()) {
      return StepError("WRONG_ARGUMENTS", predicate.items[0].span, step_,
                       "the predicate " + predicate.name + " takes a string, not " +
                           DescribeBound(predicate.items[0]));
    }
    return Unary(predicate, function);
  }

  StatusOr<ExpressionPtr> Pair(const Bound& predicate, plan::FunctionRef combine,
                               plan::FunctionRef low, plan::FunctionRef high) {
    RETURN_IF_ERROR(Arity(predicate, 2));
    ASSIGN_OR_RETURN(ExpressionPtr from, operand_(predicate.items[0]));
    ASSIGN_OR_RETURN(ExpressionPtr to, operand_(predicate.items[1]));
    return CallOf(combine, {CallOf(low, {subject_, from}), CallOf(high, {subject_, to})});
  }

  StatusOr<ExpressionPtr> Membership(const Bound& predicate, plan::FunctionRef function) {
    ValueList members;
    for (const Bound& item : predicate.items) {
      ASSIGN_OR_RETURN(ExpressionPtr member, operand_(item));
      if (predicate.items.size() == 1 && IsCall(*member, "side_effect") &&
          IsBag(*member->args.back())) {
        return InSideEffect(predicate, *member);
      }
      if (predicate.items.size() == 1 && member->kind != Expression::Kind::kConstant) {
        return MemberOf(predicate, std::move(member));
      }
      if (member->kind != Expression::Kind::kConstant) {
        return NotThereYet(item.span, step_,
                           predicate.name + "() of several labels is not there yet");
      }
      const Value& value = member->constant;
      if (predicate.items.size() == 1 && value.is_collection()) {
        members = value.AsList();
      } else {
        members.push_back(value);
      }
    }
    ASSIGN_OR_RETURN(Value list, Value::List(std::move(members)));
    return CallOf(function, {subject_, Constant(std::move(list))});
  }

  // within('a') of the collection that a label stands for.
  ExpressionPtr MemberOf(const Bound& predicate, ExpressionPtr collection) {
    ExpressionPtr in = CallOf("member_of", {subject_, collection});
    if (predicate.name == "within") return in;
    negated_ = true;
    return CallOf("and",
                  {CallOf("present", {std::move(collection)}), CallOf("not", {std::move(in)})});
  }

  // within('x') of what aggregate('x') gathers.
  ExpressionPtr InSideEffect(const Bound& predicate, const Expression& effect) {
    ExpressionPtr in = CallOf("in_side_effect", {subject_, effect.args[0]});
    if (predicate.name == "within") return in;
    negated_ = true;
    return CallOf("not", {std::move(in)});
  }

  StatusOr<ExpressionPtr> Combined(const Bound& predicate, plan::FunctionRef function) {
    std::vector<ExpressionPtr> parts;
    for (const Bound& item : predicate.items) {
      ASSIGN_OR_RETURN(ExpressionPtr part, Build(item));
      parts.push_back(std::move(part));
    }
    return CallOf(function, std::move(parts));
  }

  StatusOr<ExpressionPtr> Negated(const Bound& predicate) {
    RETURN_IF_ERROR(Arity(predicate, 1));
    negated_ = true;
    ASSIGN_OR_RETURN(ExpressionPtr inner, Build(predicate.items[0]));
    return CallOf("not", {std::move(inner)});
  }

  StatusOr<ExpressionPtr> TypeTest(const Bound& predicate) {
    RETURN_IF_ERROR(Arity(predicate, 1));
    const Bound& type = predicate.items[0];
    if (type.kind == Bound::Kind::kEnum) {
      return CallOf("typeOf", {subject_, StringConstant(type.name)});
    }
    if (type.IsString()) return CallOf("typeOf", {subject_, Constant(type.value)});
    return StepError(
        "WRONG_ARGUMENTS", type.span, step_,
        "typeOf takes a type such as GType.INT or its name, not " + DescribeBound(type));
  }

  std::string_view step_;
  const ExpressionPtr& subject_;
  const OperandFunction& operand_;
  bool negated_ = false;
};

}  // namespace

StatusOr<ExpressionPtr> BuildPredicate(const Bound& predicate, const ExpressionPtr& subject,
                                       std::string_view step, const OperandFunction& operand) {
  PredicateBuilder builder(step, subject, operand);
  ASSIGN_OR_RETURN(ExpressionPtr condition, builder.Build(predicate));
  if (builder.negated() && !IsCurrent(*subject)) {
    condition = CallOf("and", {CallOf("present", {subject}), std::move(condition)});
  }
  if (Fits(*condition)) return condition;
  ErrorDetail detail;
  detail.reason = "PREDICATE_TOO_LARGE";
  detail.span = predicate.span;
  detail.step = std::string(step) + "()";
  detail.limit = std::to_string(kMaxExpressionSize);
  detail.used = std::to_string(condition->size);
  return ResourceExhausted("a predicate of more than " + std::to_string(kMaxExpressionSize) +
                               " parts, or nested too deeply",
                           detail);
}

StatusOr<ExpressionPtr> BuildPredicate(const Bound& predicate, const ExpressionPtr& subject,
                                       std::string_view step) {
  return BuildPredicate(
      predicate, subject, step, [step](const Bound& item) -> StatusOr<ExpressionPtr> {
        if (item.kind == Bound::Kind::kValue) return Constant(item.value);
        return StepError("WRONG_ARGUMENTS", item.span, step,
                         "a predicate compares with a constant, not with " + DescribeBound(item));
      });
}

}  // namespace koios::planner
