#include <algorithm>

#include "planner/plan_error.h"
#include "planner/steps/steps.h"

namespace koios::planner {
namespace {

// Each of until() (which times() is one form of) and emit() may stand once, on either side.
Status CheckTests(const StepCall& step) {
  std::set<std::string> seen;
  for (const std::vector<Modulator>* side : {&step.tests_before, &step.tests_behind}) {
    for (const Modulator& test : *side) {
      const std::string kind = test.call->name == "emit" ? "emit" : "until";
      if (seen.insert(kind).second) continue;
      return StepError(
          "WRONG_ARGUMENTS", test.call->span, test.call->name,
          kind == "emit" ? "repeat() takes one emit()" : "repeat() takes one until() or times()");
    }
  }
  return OkStatus();
}

// What is known in the body before it is built: a label of the body may be there already, from the
// iteration before.
StatusOr<TypeEnv> EnvOfBody(const parser::Traversal& body, const TypeEnv& outside) {
  TypeEnv env = outside;
  env.current = ValueType::kAny;
  for (const parser::Call& call : body.calls) {
    if (call.name == "inject" || call.name == "cap") {
      return StepError("MISPLACED_STEP", call.span, call.name,
                       call.name + "() cannot stand in repeat()");
    }
    if (call.name != "as") continue;
    for (const parser::Argument& label : call.arguments) {
      if (label.kind == parser::Argument::Kind::kLiteral &&
          label.literal.kind() == ValueKind::kString) {
        env.names.insert({label.literal.AsString(), {ValueType::kAny, false, true}});
      }
    }
  }
  for (auto& [name, stored] : env.names) stored = {ValueType::kAny, false, stored.many};
  return env;
}

}  // namespace

Status BuildRepeat(const StepCall& step, Builder* builder) {
  RETURN_IF_ERROR(CheckTests(step));
  const Bound& body = step.args.back();
  Builder::LoopPlace place;
  place.inside = true;
  if (step.args.size() > 1) place.name = step.args[0].value.AsString();
  if (const Builder::LoopPlace& around = builder->loop(); around.inside) {
    place.outer = around.outer;
    place.outer.insert(place.outer.begin(), {around.name, around.plus});
  }
  ASSIGN_OR_RETURN(const TypeEnv env, EnvOfBody(*body.traversal, builder->env()));
  Loop loop;
  loop.parts.resize(3);
  ASSIGN_OR_RETURN(loop.parts[0],
                   builder->LoopConditions(step.tests_before, env, place, &loop.before));
  ASSIGN_OR_RETURN(loop.parts[1], builder->LoopBody(body, env, place));
  TypeEnv behind = env;
  Advance(loop.parts[1], &behind);
  place.plus = 1;
  ASSIGN_OR_RETURN(loop.parts[2],
                   builder->LoopConditions(step.tests_behind, behind, place, &loop.behind));
  builder->Emit(std::move(loop));
  return OkStatus();
}

Status BuildLoops(const StepCall& step, Builder* builder) {
  const Builder::LoopPlace& loop = builder->loop();
  int32_t plus = loop.plus;
  size_t up = 0;
  if (!step.args.empty() && (!loop.inside || loop.name != step.args[0].value.AsString())) {
    const std::string& name = step.args[0].value.AsString();
    const auto found = std::find_if(loop.outer.begin(), loop.outer.end(),
                                    [&name](const auto& outer) { return outer.first == name; });
    if (found == loop.outer.end()) {
      return StepError("UNKNOWN_LABEL", step.args[0].span, step.name(),
                       "no repeat() around it is named \"" + name + "\"");
    }
    plus = found->second;
    up = 1 + static_cast<size_t>(found - loop.outer.begin());
  }
  builder->Emit(Project{
      CallOf("loops", {Constant(Value::Int(plus)), Constant(Value::Int(static_cast<int32_t>(up)))}),
      "", plan::Project::DROP_ROW});
  return OkStatus();
}

}  // namespace koios::planner
