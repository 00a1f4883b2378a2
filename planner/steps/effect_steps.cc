// Side-effects: aggregate(), cap(), and what reads and finishes them.
#include "planner/plan_error.h"
#include "planner/steps/expressions/by.h"
#include "planner/steps/side_effects.h"
#include "planner/steps/steps.h"

namespace koios::planner {
namespace {

// Current is a map of groups: one with the values finished.
Chain FinishedGroups(const GroupTail& tail, const StepCall& step, Builder* builder) {
  const std::string key = builder->FreshName('k');
  const std::string value = builder->FreshName('v');
  Chain chain;
  const auto add = [&](Operation operation) {
    chain.ops.push_back(Op{std::move(operation), step.span(), step.text});
  };
  add(Unfold{});
  add(Project{CallOf("entry_key", {Current()}), key, plan::Project::DROP_ROW});
  add(Project{CallOf("entry_value", {Current()}), "", plan::Project::DROP_ROW});
  Chain body;
  AppendGroupTail(tail, &body);
  add(ScopeOf(plan::ScopeExit::FIRST, value, plan::Project::LEAVE_ABSENT, std::move(body)));
  add(Group{key, value, plan::Group::LAST});
  return chain;
}

// The current map of several side-effects, those of groups finished.
void EmitFinished(const std::vector<std::string>& names, const StepCall& step, Builder* builder) {
  std::vector<ExpressionPtr> pairs;
  for (const std::string& name : names) {
    const ExpressionPtr gathered = CallOf("map_get", {Current(), StringConstant(name)});
    const std::string target = builder->FreshName('v');
    const SideEffect& effect = builder->side_effects()->at(name);
    if (effect.tail) {
      Chain body = FinishedGroups(*effect.tail, step, builder);
      Op start{Project{gathered, "", plan::Project::DROP_ROW}, step.span(), step.text};
      body.ops.insert(body.ops.begin(), std::move(start));
      builder->Emit(
          ScopeOf(plan::ScopeExit::FIRST, target, plan::Project::DROP_ROW, std::move(body)));
    } else {
      builder->Emit(Project{gathered, target, plan::Project::DROP_ROW});
    }
    pairs.push_back(StringConstant(name));
    pairs.push_back(Named(target));
  }
  builder->Emit(Project{CallOf("map_of", std::move(pairs)), "", plan::Project::DROP_ROW});
}

}  // namespace

bool IsSideEffect(const std::string& name, const Builder& builder) {
  return builder.side_effects()->contains(name);
}

StatusOr<ExpressionPtr> SideEffectValue(const std::string& name, const SourceSpan& span,
                                        std::string_view step, const Builder& builder) {
  SideEffect& effect = builder.side_effects()->at(name);
  if (effect.initial && !effect.gathered) return Constant(*effect.initial);
  effect.used = true;
  if (effect.initial) {  // what it is by now: a list or set, or anything
    const Value kind = Collects(effect) ? Value::String("collection") : Value();
    return CallOf("side_effect", {StringConstant(name), Constant(kind)});
  }
  if (effect.is_group && (!effect.built || effect.tail)) {
    return NotThereYet(span, step,
                       "reading the groups of \"" + name +
                           "\" before they are complete is not there yet; cap() reads them");
  }
  // Whether it is a map tells what unfold() behind it gives.
  return CallOf("side_effect", {StringConstant(name), Constant(Value::Bool(effect.is_group))});
}

void AppendGroupTail(const GroupTail& tail, Chain* chain) {
  const Op& first = tail.rest.ops.front();
  for (int i = 0; i < tail.unfolds; ++i) {
    chain->ops.push_back(Op{Unfold{}, first.span, first.step});
  }
  const auto unpack = [&](const std::string& key, std::string target,
                          plan::Project::Absent absent) {
    const ExpressionPtr part = CallOf("map_get", {Current(), StringConstant(key)});
    chain->ops.push_back(Op{Project{part, std::move(target), absent}, first.span, first.step});
  };
  for (const std::string& name : tail.carried) unpack(name, name, plan::Project::LEAVE_ABSENT);
  if (!tail.carried.empty()) unpack("", "", plan::Project::DROP_ROW);
  chain->ops.insert(chain->ops.end(), tail.rest.ops.begin(), tail.rest.ops.end());
}

Status BuildAggregate(const StepCall& step, Builder* builder) {
  if (step.args.size() > 1) {
    return StepError("WRONG_ARGUMENTS", step.args[0].span, step.name(),
                     "aggregate() takes no Scope: it waits for all traversers, and "
                     "local(aggregate(...)) adds them one by one",
                     "local(aggregate(...))");
  }
  RETURN_IF_ERROR(CheckByCount(step, 1));
  const std::string& name = step.args[0].value.AsString();
  SideEffect& effect = (*builder->side_effects())[name];
  if (effect.is_group) {
    return StepError("WRONG_ARGUMENTS", step.args[0].span, step.name(),
                     "the side-effect \"" + name + "\" is one of group() or groupCount()");
  }
  effect.built = effect.used = true;
  Aggregate aggregate{name, ""};
  ASSIGN_OR_RETURN(ExpressionPtr value,
                   BuildBy(ByAt(step, 0), Current(), plan::Project::LEAVE_ABSENT, step, builder));
  if (value->kind == Expression::Kind::kNamed) {
    aggregate.value = value->name;
  } else if (!IsCurrent(*value)) {
    aggregate.value = builder->FreshName('a');
    builder->Emit(Project{std::move(value), aggregate.value, plan::Project::LEAVE_ABSENT});
  }
  builder->Emit(std::move(aggregate));
  return OkStatus();
}

Status BuildCap(const StepCall& step, Builder* builder) {
  Cap cap;
  bool tails = false;
  for (const Bound& argument : step.args) {
    const std::string& name = argument.value.AsString();
    if (!IsSideEffect(name, *builder)) {
      return StepError("UNKNOWN_LABEL", argument.span, step.name(),
                       "no step gathers a side-effect \"" + name + "\"");
    }
    SideEffect& effect = builder->side_effects()->at(name);
    effect.used = true;
    cap.began = cap.began || effect.initial;
    if (effect.is_group && !effect.built) {
      return NotThereYet(argument.span, step.name(),
                         "cap() before the group() of \"" + name + "\" is not there yet");
    }
    cap.is_map = cap.is_map || effect.is_group;
    tails = tails || effect.tail;
    if (std::find(cap.names.begin(), cap.names.end(), name) == cap.names.end()) {
      cap.names.push_back(name);
    }
  }
  const std::vector<std::string> names = cap.names;
  cap.is_map = cap.is_map || step.args.size() > 1;
  builder->Emit(std::move(cap));
  if (!tails) return OkStatus();
  if (names.size() > 1) {
    EmitFinished(names, step, builder);
    return OkStatus();
  }
  Chain body = FinishedGroups(*builder->side_effects()->at(names[0]).tail, step, builder);
  builder->Emit(ScopeOf(plan::ScopeExit::FIRST, "", plan::Project::DROP_ROW, std::move(body)));
  return OkStatus();
}

}  // namespace koios::planner
