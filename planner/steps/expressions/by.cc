#include "planner/steps/expressions/by.h"

#include "absl/strings/ascii.h"
#include "planner/plan_error.h"
#include "planner/traverser.h"

namespace koios::planner {

const Modulator* ByAt(const StepCall& step, size_t i) {
  return step.bys.empty() ? nullptr : &step.bys[i % step.bys.size()];
}

void Require(const ExpressionPtr& input, std::string_view kinds, const std::string& reader,
             Builder* builder) {
  const auto takes = [kinds](char kind) { return kinds.find(kind) != std::string_view::npos; };
  const ValueType type = TypeOf(*input, builder->env());
  if (builder->is_lenient() || (type == ValueType::kVertex && takes('v')) ||
      (type == ValueType::kEdge && takes('e')) ||
      ((type == ValueType::kMap || type == ValueType::kEntry) && takes('m')) ||
      (type == ValueType::kProperty && takes('p') && takes('q'))) {
    return;
  }
  builder->Emit(Filter{
      CallOf("require", {input, StringConstant(std::string(kinds)), StringConstant(reader)})});
}

ExpressionPtr TokenOf(std::string_view token, const ExpressionPtr& input) {
  const plan::FunctionTraits* function = plan::FindFunction(token);
  CHECK(function != nullptr);  // the parser knows no other tokens, the catalogue no other steps
  return CallOf(*function, {input});
}

ExpressionPtr TokenValue(std::string_view token, const ExpressionPtr& input,
                         const std::string& reader, Builder* builder) {
  const bool part = token == "key" || token == "value";
  Require(input, part ? "pq" : kElements, reader, builder);
  return TokenOf(token, input);
}

namespace {

// Gives the values of the objects, each by the by() whose turn it is by its number.
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

// by('key'): the value under the key of a map, or the property of an element.
ExpressionPtr KeyValue(const std::string& key, const ExpressionPtr& input, Builder* builder) {
  const ValueType type = TypeOf(*input, builder->env());
  Require(input, type == ValueType::kEntry ? "vep" : "vepm", "by(\"" + key + "\")", builder);
  if (type == ValueType::kMap || IsUnknown(type)) {
    return CallOf("by_key", {input, StringConstant(key)});
  }
  return PropertyOf(input, key);
}

}  // namespace

constexpr plan::FunctionRef kEntryKey = "entry_key", kEntryValue = "entry_value";
constexpr plan::FunctionRef kMapKeys = "map_keys", kMapValues = "map_values";

ExpressionPtr ColumnValue(std::string_view column, const ExpressionPtr& input,
                          const std::string& reader, Builder* builder) {
  const ValueType type = TypeOf(*input, builder->env());
  Require(input, type == ValueType::kMember ? "no" : "mo", reader, builder);
  const bool entry = type == ValueType::kEntry;
  if (entry) return CallOf(column == "keys" ? kEntryKey : kEntryValue, {input});
  return CallOf(column == "keys" ? kMapKeys : kMapValues, {input});
}

StatusOr<ExpressionPtr> BuildByArgument(const Bound& argument, const ExpressionPtr& input,
                                        plan::Project::Absent absent, const StepCall& step,
                                        Builder* builder) {
  if (argument.IsString()) return KeyValue(argument.value.AsString(), input, builder);
  if (argument.IsEnum("T")) {
    return TokenValue(argument.name, input, "by(T." + argument.name + ")", builder);
  }
  if (argument.IsEnum("Column")) {
    return ColumnValue(argument.name, input, "by(" + argument.name + ")", builder);
  }
  if (!argument.IsTraversal()) {
    return NotThereYet(argument.span, "by",
                       "by() with " + DescribeBound(argument) + " is not there yet for " +
                           std::string(step.name()) + "()");
  }
  TypeEnv env = builder->env();
  env.current = TypeOf(*input, env);
  ASSIGN_OR_RETURN(Chain body, builder->ChildFrom(argument, env, LabelMode::kPlain));
  if (!IsCurrent(*input)) {
    if (builder->keeps_paths()) {
      body.ops.insert(body.ops.begin(), Op{NewPath(), argument.span, step.text});
    }
    Op start{Project{input, "", plan::Project::DROP_ROW}, argument.span, step.text};
    body.ops.insert(body.ops.begin(), std::move(start));
  }
  const std::string name = builder->FreshName('b');
  builder->Emit(ScopeOf(plan::ScopeExit::FIRST, name, absent, std::move(body)));
  return Named(name);
}

StatusOr<ExpressionPtr> BuildBy(const Modulator* by, const ExpressionPtr& input,
                                plan::Project::Absent absent, const StepCall& step,
                                Builder* builder) {
  if (by == nullptr || by->args.empty()) return input;
  if (by->args.size() > 1) {
    return StepError("WRONG_ARGUMENTS", by->call->span, "by",
                     "by() takes one argument after " + std::string(step.name()) + "()");
  }
  return BuildByArgument(by->args[0], input, absent, step, builder);
}

StatusOr<ExpressionPtr> BuildBysOfEntries(const ExpressionPtr& map, const StepCall& step,
                                          Builder* builder) {
  Builder body = builder->Inner(TypeEnv{});  // a value by itself: it has no labels
  body.Emit(Project{map, "", plan::Project::DROP_ROW});
  body.Emit(Unfold{});
  const std::string key = body.FreshName('n');
  body.Emit(Project{CallOf("entry_key", {Current()}), key, plan::Project::LEAVE_ABSENT});
  body.Emit(Project{CallOf("entry_value", {Current()}), "", plan::Project::DROP_ROW});
  body.Emit(NewPath());
  RETURN_IF_ERROR(BuildTurns(step, key, &body));
  body.Emit(Group{key, "", plan::Group::LAST});
  const std::string values = builder->FreshName('b');
  builder->Emit(ScopeOf(plan::ScopeExit::FIRST, values, plan::Project::DROP_ROW, body.Take()));
  return Named(values);
}

ExpressionPtr WithId(const ExpressionPtr& value, const Builder& builder) {
  return MayBeElement(TypeOf(*value, builder.env())) ? CallOf("with_id", {value}) : value;
}

Status CheckByCount(const StepCall& step, size_t most) {
  if (step.bys.size() <= most) return OkStatus();
  if (most == 1) {
    std::string name(step.name());
    name[0] = absl::ascii_toupper(static_cast<unsigned char>(name[0]));
    return StepError("WRONG_ARGUMENTS", step.bys[1].call->span, "by",
                     name + " step can only have one by modulator");
  }
  return StepError(
      "WRONG_ARGUMENTS", step.bys[most].call->span, "by",
      std::string(step.name()) + "() takes at most " + std::to_string(most) + " by() modulators");
}

}  // namespace koios::planner
