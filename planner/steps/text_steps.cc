// Steps over texts and over two collections: each is one function of the table of the same name.
#include "planner/plan_error.h"
#include "planner/steps/expressions/by.h"
#include "planner/steps/expressions/label.h"
#include "planner/steps/expressions/local_form.h"
#include "planner/steps/steps.h"

namespace koios::planner {
namespace {

// Variables of one format(): each is one more part of its expression.
constexpr size_t kMaxVariables = 256;

const plan::FunctionTraits& FunctionOf(const StepCall& step) {
  const plan::FunctionTraits* function = plan::FindFunction(step.name());
  CHECK(function != nullptr);  // the catalogue has these build functions for such steps only
  return *function;
}

ExpressionPtr Flag(bool value) { return Constant(Value::Bool(value)); }

// A piece of a template: text, or a variable's name.
struct Piece {
  bool is_variable = false;
  std::string text;
};

// %{name} is a variable, unless another % is before it; a name has no end of line.
std::vector<Piece> PiecesOf(const std::string& text) {
  std::vector<Piece> pieces;
  size_t begin = 0;
  for (size_t at = 0; (at = text.find("%{", at)) != std::string::npos; ++at) {
    if (at > 0 && text[at - 1] == '%') continue;
    const size_t end = text.find_first_of("}\n\r", at);
    if (end == std::string::npos) break;
    if (text[end] != '}') continue;
    if (at > begin) pieces.push_back({false, text.substr(begin, at - begin)});
    pieces.push_back({true, text.substr(at + 2, end - at - 2)});
    begin = end + 1;
    at = end;
  }
  if (begin < text.size()) pieces.push_back({false, text.substr(begin)});
  return pieces;
}

// What a name in a template stands for: the element's property, before a label and the like.
StatusOr<ExpressionPtr> ValueOfVariable(const std::string& name, const StepCall& step,
                                        Builder* builder) {
  ASSIGN_OR_RETURN(ExpressionPtr label,
                   ValueOfLabel(name, step.args[0].span, step.name(), *builder));
  const ValueType type = builder->env().current;
  if (!MayBeElement(type)) return label;
  const bool only_property = !IsUnknown(type) && IsCall(*label, "map_get");
  if (only_property) return PropertyOf(Current(), name);
  return CallOf("first_of", {PropertyOf(Current(), name), std::move(label)});
}

}  // namespace

Status BuildTextStep(const StepCall& step, Builder* builder) {
  std::vector<ExpressionPtr> args = {Flag(IsLocal(step))};
  for (const Bound& argument : step.args) {
    if (!argument.IsEnum("Scope")) args.push_back(Constant(argument.value));
  }
  return EmitList(FunctionOf(step), std::move(args), builder);
}

Status BuildAsString(const StepCall& step, Builder* builder) {
  const ValueType type = builder->env().current;
  const char* flow = type == ValueType::kEntry    ? "entry"
                     : type == ValueType::kMember ? "member"
                                                  : "map";
  return EmitList("asString", {Flag(IsLocal(step)), StringConstant(flow)}, builder);
}

Status BuildReverse(const StepCall&, Builder* builder) { return EmitList("reverse", {}, builder); }

Status BuildConcat(const StepCall& step, Builder* builder) {
  std::vector<ExpressionPtr> parts;
  for (const Bound& argument : step.args) {
    if (!argument.IsTraversal()) {
      parts.push_back(Constant(argument.value));
      continue;
    }
    ASSIGN_OR_RETURN(
        ExpressionPtr part,
        BuildByArgument(argument, Current(), plan::Project::LEAVE_ABSENT, step, builder));
    parts.push_back(std::move(part));
  }
  return EmitList("concat", std::move(parts), builder);
}

Status BuildFormat(const StepCall& step, Builder* builder) {
  std::vector<ExpressionPtr> parts;
  size_t num_variables = 0, num_bys = 0;
  for (Piece& piece : PiecesOf(step.args[0].value.AsString())) {
    if (!piece.is_variable) {
      parts.push_back(StringConstant(std::move(piece.text)));
      continue;
    }
    if (++num_variables > kMaxVariables) {
      ErrorDetail detail;
      detail.reason = "TOO_MANY_VARIABLES";
      detail.span = step.args[0].span;
      detail.limit = std::to_string(kMaxVariables) + " variables";
      return ResourceExhausted("format() takes at most " + std::to_string(kMaxVariables) +
                                   " variables, which is the fixed limit.",
                               detail);
    }
    ExpressionPtr value;
    if (piece.text == "_") {
      ASSIGN_OR_RETURN(value, BuildBy(ByAt(step, num_bys++), Current(), plan::Project::LEAVE_ABSENT,
                                      step, builder));
    } else {
      ASSIGN_OR_RETURN(value, ValueOfVariable(piece.text, step, builder));
    }
    // An element that a property or a label gives is read where it lives, not where that was.
    if (value->kind == Expression::Kind::kCall && MayBeElement(TypeOf(*value, builder->env()))) {
      value = Named(builder->Store(value));
    }
    parts.push_back(CallOf("text_part", {std::move(value)}));
  }
  if (parts.empty()) parts.push_back(StringConstant(""));
  builder->Emit(Project{CallOf("format", std::move(parts)), "", plan::Project::DROP_ROW});
  return OkStatus();
}

Status BuildConjoin(const StepCall& step, Builder* builder) {
  return EmitList("conjoin", {Constant(step.args[0].value)}, builder);
}

Status BuildOfBoth(const StepCall& step, Builder* builder) {
  const Bound& argument = step.args[0];
  ExpressionPtr other;
  if (argument.IsTraversal()) {
    ASSIGN_OR_RETURN(
        other, BuildByArgument(argument, Current(), plan::Project::LEAVE_ABSENT, step, builder));
  } else {
    other = Constant(argument.value);
  }
  return EmitList(FunctionOf(step), {std::move(other), Flag(argument.IsTraversal())}, builder);
}

}  // namespace koios::planner
