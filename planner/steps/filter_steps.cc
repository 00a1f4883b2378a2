#include "core/arithmetic.h"
#include "planner/plan_error.h"
#include "planner/steps/expressions/by.h"
#include "planner/steps/expressions/label.h"
#include "planner/steps/expressions/local_form.h"
#include "planner/steps/expressions/predicate.h"
#include "planner/steps/steps.h"

namespace koios::planner {
namespace {

// The type tests of a bag are those of a set.
ExpressionPtr WithBagAsSet(const ExpressionPtr& test) {
  if (test->kind != Expression::Kind::kCall) return test;
  std::vector<ExpressionPtr> args;
  for (const ExpressionPtr& arg : test->args) args.push_back(WithBagAsSet(arg));
  if (IsCall(*test, "typeOf")) args[0] = Constant(Value::EmptySet());
  return CallOf(*test->function, std::move(args));
}

// Keeps the rows whose `subject` is what `wanted` says.
Status EmitTest(const Bound& wanted, const ExpressionPtr& subject, const StepCall& step,
                Builder* builder) {
  if (wanted.IsPredicate()) {
    ASSIGN_OR_RETURN(ExpressionPtr condition, BuildPredicate(wanted, subject, step.name()));
    const bool bag = TypeOf(*subject, builder->env()) == ValueType::kBag;
    builder->Emit(Filter{bag ? WithBagAsSet(condition) : std::move(condition)});
    return OkStatus();
  }
  if (wanted.IsTraversal()) {
    TypeEnv env = builder->env();
    env.current = TypeOf(*subject, env);
    ASSIGN_OR_RETURN(Chain body, builder->ChildFrom(wanted, env, LabelMode::kPlain));
    Op start{Project{subject, "", plan::Project::DROP_ROW}, wanted.span, step.text};
    body.ops.insert(body.ops.begin(), std::move(start));
    builder->Emit(ScopeOf(plan::ScopeExit::EXISTS, "", plan::Project::DROP_ROW, std::move(body)));
    return OkStatus();
  }
  builder->Emit(Filter{CallOf("eq", {subject, Constant(wanted.value)})});
  return OkStatus();
}

Status EmitNothing(Builder* builder) {
  builder->Emit(Filter{Constant(Value::Bool(false))});
  return OkStatus();
}

Status EmitLabels(const std::vector<std::string>& labels, Builder* builder) {
  if (labels.empty()) return EmitNothing(builder);
  builder->Emit(Filter{HasLabel(labels)});
  return OkStatus();
}

// The strings of the arguments; null names nothing and falls away.
std::vector<std::string> StringsOf(const std::vector<Bound>& arguments) {
  std::vector<std::string> strings;
  for (const Bound& argument : arguments) {
    if (argument.IsString()) strings.push_back(argument.value.AsString());
  }
  return strings;
}

// Predicates and values mixed: one test each, joined by or.
Status EmitAny(const std::vector<Bound>& wanted, const ExpressionPtr& subject, const StepCall& step,
               Builder* builder) {
  std::vector<ExpressionPtr> tests;
  PlanValues values;
  for (const Bound& argument : wanted) {
    if (argument.IsPredicate()) {
      ASSIGN_OR_RETURN(ExpressionPtr test, BuildPredicate(argument, subject, step.name()));
      tests.push_back(std::move(test));
    } else {
      values.push_back(argument.value);
    }
  }
  if (tests.empty() && values.size() == 1) {
    tests.push_back(CallOf("eq", {subject, Constant(values[0])}));
  } else if (!values.empty() || tests.empty()) {
    ASSIGN_OR_RETURN(Value list, Value::List(ValueList(values.begin(), values.end())));
    tests.push_back(CallOf("within", {subject, Constant(std::move(list))}));
  }
  builder->Emit(Filter{tests.size() == 1 ? tests[0] : CallOf("or", std::move(tests))});
  return OkStatus();
}

// The ids that are wanted; an element stands for its id.
void AppendIds(const Value& wanted, ValueList* ids) {
  if (wanted.is_collection()) {
    for (const Value& member : wanted.AsList()) AppendIds(member, ids);
  } else {
    ids->push_back(wanted.kind() == ValueKind::kElement ? wanted.AsElement().id : wanted);
  }
}

StatusOr<ExpressionPtr> HasId(const ExpressionPtr& element, ValueList ids, bool negated) {
  ASSIGN_OR_RETURN(Value wanted, Value::List(std::move(ids)));
  ExpressionPtr has = CallOf("has_id", {element, Constant(std::move(wanted))});
  if (!negated) return has;
  return CallOf("and", {CallOf("present", {CallOf("id", {element})}), CallOf("not", {has})});
}

// A test of id(_) where "1" finds the integer id 1, as it does in V("1").
StatusOr<ExpressionPtr> WithIdsFound(const ExpressionPtr& test) {
  if (test->kind != Expression::Kind::kCall) return test;
  if (test->args.size() == 2 && IsCall(*test->args[0], "id") &&
      test->args[1]->kind == Expression::Kind::kConstant) {
    const ExpressionPtr& element = test->args[0]->args[0];
    const bool negated = IsCall(*test, "neq") || IsCall(*test, "without");
    if (negated || IsCall(*test, "eq") || IsCall(*test, "within")) {
      ValueList ids;
      AppendIds(test->args[1]->constant, &ids);
      return HasId(element, std::move(ids), negated);
    }
  }
  std::vector<ExpressionPtr> args;
  for (const ExpressionPtr& arg : test->args) {
    ASSIGN_OR_RETURN(ExpressionPtr with_ids, WithIdsFound(arg));
    args.push_back(std::move(with_ids));
  }
  return CallOf(*test->function, std::move(args));
}

// Ids and predicates over them mixed.
Status EmitIds(const std::vector<Bound>& wanted, const StepCall& step, Builder* builder) {
  std::vector<ExpressionPtr> tests;
  ValueList ids;
  for (const Bound& argument : wanted) {
    if (!argument.IsPredicate()) {
      AppendIds(argument.value, &ids);
      continue;
    }
    ASSIGN_OR_RETURN(ExpressionPtr test,
                     BuildPredicate(argument, CallOf("id", {Current()}), step.name()));
    ASSIGN_OR_RETURN(test, WithIdsFound(test));
    tests.push_back(std::move(test));
  }
  if (!ids.empty() || tests.empty()) {
    ASSIGN_OR_RETURN(ExpressionPtr has, HasId(Current(), std::move(ids), false));
    tests.push_back(std::move(has));
  }
  builder->Emit(Filter{tests.size() == 1 ? tests[0] : CallOf("or", std::move(tests))});
  return OkStatus();
}

StatusOr<int64_t> CountArgument(const StepCall& step, size_t i) {
  const int64_t count = step.args[i].value.AsInteger();
  if (count >= -1) return count;
  return StepError(
      "WRONG_ARGUMENTS", step.args[i].span, step.name(),
      std::string(step.name()) + "() takes a number from 0 on, not " + std::to_string(count));
}

}  // namespace

Status BuildHas(const StepCall& step, Builder* builder) {
  const std::vector<Bound>& args = step.args;
  size_t at = 0;
  if (args.size() == 3) {
    if (args[0].value.is_null()) return EmitNothing(builder);
    RETURN_IF_ERROR(EmitLabels({args[0].value.AsString()}, builder));
    at = 1;
  }
  const bool token = args[at].IsEnum("T");
  if (!token && args[at].value.is_null()) return EmitNothing(builder);
  Require(Current(), kElementsAndProperties, "has()", builder);
  const ExpressionPtr subject =
      token ? TokenOf(args[at].name, Current()) : PropertyOf(Current(), args[at].value.AsString());
  if (args.size() == 1) {
    builder->Emit(Filter{CallOf("present", {subject})});
    return OkStatus();
  }
  const Bound& wanted = args[at + 1];
  if (token && args[at].name == "id" && !wanted.IsTraversal())
    return EmitIds({wanted}, step, builder);
  if (token && args[at].name == "label" && wanted.IsString()) {
    return EmitLabels({wanted.value.AsString()}, builder);
  }
  return EmitTest(wanted, subject, step, builder);
}

Status BuildHasLabel(const StepCall& step, Builder* builder) {
  Require(Current(), kElementsAndProperties, "hasLabel()", builder);
  if (step.args[0].IsPredicate()) {
    return EmitTest(step.args[0], CallOf("label", {Current()}), step, builder);
  }
  return EmitLabels(StringsOf(step.args), builder);
}

Status BuildHasId(const StepCall& step, Builder* builder) {
  Require(Current(), kElementsAndProperties, "hasId()", builder);
  return EmitIds(step.args, step, builder);
}

Status BuildHasKeyOrValue(const StepCall& step, Builder* builder) {
  Require(Current(), kElementsAndProperties, std::string(step.name()) + "()", builder);
  const std::string_view token = step.name() == "hasKey" ? "key" : "value";
  return EmitAny(step.args, TokenOf(token, Current()), step, builder);
}

Status BuildHasNot(const StepCall& step, Builder* builder) {
  Require(Current(), kElementsAndProperties, "hasNot()", builder);
  const ExpressionPtr subject = PropertyOf(Current(), step.args[0].value.AsString());
  builder->Emit(Filter{CallOf("not", {CallOf("present", {subject})})});
  return OkStatus();
}

Status BuildIs(const StepCall& step, Builder* builder) {
  return EmitTest(step.args[0], Current(), step, builder);
}

Status BuildLimit(const StepCall& step, Builder* builder) {
  const size_t at = step.args[0].IsEnum("Scope") ? 1 : 0;
  ASSIGN_OR_RETURN(const int64_t first, CountArgument(step, at));
  Limit limit;
  if (step.name() == "limit") {
    limit.high = first;
  } else if (step.name() == "skip") {
    limit.low = std::max<int64_t>(first, 0);
  } else {
    ASSIGN_OR_RETURN(const int64_t second, CountArgument(step, at + 1));
    if (second != -1 && first > second) {
      return StepError(
          "WRONG_ARGUMENTS", step.args[at + 1].span, step.name(),
          "not a legal range: [" + std::to_string(first) + ", " + std::to_string(second) + "]");
    }
    limit.low = std::max<int64_t>(first, 0);
    limit.high = second;
  }
  if (IsLocal(step)) {
    return EmitList("list_range",
                    {Constant(Value::Long(limit.low)), Constant(Value::Long(limit.high))}, builder);
  }
  builder->Emit(limit);
  return OkStatus();
}

Status BuildTimeLimit(const StepCall& step, Builder* builder) {
  builder->Emit(TimeLimit{step.args[0].value.AsInteger()});
  return OkStatus();
}

Status BuildTail(const StepCall& step, Builder* builder) {
  const size_t at = !step.args.empty() && step.args[0].IsEnum("Scope") ? 1 : 0;
  Tail tail;
  if (step.args.size() > at) {
    ASSIGN_OR_RETURN(tail.count, CountArgument(step, at));
  }
  if (IsLocal(step)) return EmitList("list_tail", {Constant(Value::Long(tail.count))}, builder);
  builder->Emit(tail);
  return OkStatus();
}

Status BuildSample(const StepCall& step, Builder* builder) {
  if (IsLocal(step)) {
    RETURN_IF_ERROR(CheckByCount(step, 0));
    ASSIGN_OR_RETURN(const int64_t count, CountArgument(step, 1));
    return EmitList("list_sample", {Constant(Value::Long(count))}, builder);
  }
  RETURN_IF_ERROR(CheckByCount(step, 1));
  Sample sample;
  ASSIGN_OR_RETURN(sample.count, CountArgument(step, 0));
  if (!step.bys.empty()) {
    ASSIGN_OR_RETURN(ExpressionPtr weight,
                     BuildBy(ByAt(step, 0), Current(), plan::Project::DROP_ROW, step, builder));
    sample.weight = builder->Store(weight);
  }
  builder->Emit(std::move(sample));
  return OkStatus();
}

Status BuildCoin(const StepCall& step, Builder* builder) {
  builder->Emit(Coin{NumberAsDouble(step.args[0].value)});
  return OkStatus();
}

// none(p), any(p), all(p): of collections, whose members are tested in a child.
Status BuildMembers(const StepCall& step, Builder* builder) {
  builder->Emit(Filter{CallOf("is_list", {Current()})});
  ASSIGN_OR_RETURN(ExpressionPtr test, BuildPredicate(step.args[0], Current(), step.name()));
  Chain body;
  body.ops.push_back(Op{Unfold{}, step.span(), step.text});
  if (step.name() == "all") test = CallOf("not", {std::move(test)});
  body.ops.push_back(Op{Filter{std::move(test)}, step.span(), step.text});
  builder->Emit(ScopeOf(step.name() == "any" ? plan::ScopeExit::EXISTS : plan::ScopeExit::NONE, "",
                        plan::Project::DROP_ROW, std::move(body)));
  return OkStatus();
}

Status BuildDiscard(const StepCall&, Builder* builder) {
  builder->Emit(Filter{Constant(Value::Bool(false))});
  return OkStatus();
}

Status BuildFail(const StepCall& step, Builder* builder) {
  std::string message = step.args.empty() ? "" : step.args[0].value.AsString();
  builder->Emit(Filter{CallOf("fail", {Current(), StringConstant(std::move(message))})});
  return OkStatus();
}

Status BuildDedup(const StepCall& step, Builder* builder) {
  if (IsLocal(step)) return EmitList("list_dedup", {}, builder);
  RETURN_IF_ERROR(CheckByCount(step, 1));
  std::vector<ExpressionPtr> inputs;
  for (const Bound& label : step.args) {
    ASSIGN_OR_RETURN(ExpressionPtr input,
                     RequiredLabel(label.value.AsString(), label.span, step.name(), builder));
    inputs.push_back(std::move(input));
  }
  if (inputs.empty()) inputs.push_back(Current());
  Dedup dedup;
  for (const ExpressionPtr& input : inputs) {
    ASSIGN_OR_RETURN(ExpressionPtr key,
                     BuildBy(ByAt(step, 0), input, plan::Project::DROP_ROW, step, builder));
    dedup.keys.push_back(builder->Store(key));
  }
  builder->Emit(std::move(dedup));
  return OkStatus();
}

}  // namespace koios::planner
