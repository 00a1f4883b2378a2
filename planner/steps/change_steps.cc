// addV addE property drop, with from() and to(). What property() gives to an element that is being
// added is evaluated before the addition, for the traverser that enters it. Children are evaluated
// for all traversers of a stage before the first change, unless they can see it: then one traverser
// is through before the next one's children are asked.
#include "planner/changes.h"
#include "planner/plan_error.h"
#include "planner/steps/expressions/by.h"
#include "planner/steps/expressions/label.h"
#include "planner/steps/steps.h"

namespace koios::planner {
namespace {

// A constant, or the first result of a child, absent when it gives none.
StatusOr<ExpressionPtr> BuildValue(const Bound& argument, Builder* builder) {
  if (argument.IsTraversal()) {
    ASSIGN_OR_RETURN(Chain body, builder->Child(argument));
    const std::string name = builder->FreshName('p');
    builder->Emit(
        ScopeOf(plan::ScopeExit::FIRST, name, plan::Project::LEAVE_ABSENT, std::move(body)));
    return Named(name);
  }
  if (argument.kind != Bound::Kind::kValue) {
    return StepError("WRONG_ARGUMENTS", argument.span, "property",
                     "a property has a value or a traversal, not " + DescribeBound(argument));
  }
  return Constant(argument.value);
}

Status AddProperty(const Value& key, ExpressionPtr value, const SourceSpan& span, Mutate* mutate) {
  const bool is_id = key.kind() == ValueKind::kToken && key.AsToken() == Token::kId;
  const bool is_label = key.kind() == ValueKind::kToken && key.AsToken() == Token::kLabel;
  if (is_id || is_label) {
    if (mutate->kind == Mutate::Kind::kSetProperty) {
      return StepError("WRONG_ARGUMENTS", span, "property",
                       "an id or a label is given when the element is added: directly behind "
                       "addV() or addE()");
    }
    (is_id ? mutate->id : mutate->label) = std::move(value);
    return OkStatus();
  }
  if (key.kind() != ValueKind::kString) {
    return StepError("WRONG_ARGUMENTS", span, "property", "the key of a property is a string");
  }
  mutate->properties.emplace_back(Constant(key), std::move(value));
  return OkStatus();
}

// property(key, value) or property(map).
Status AddProperties(std::span<const Bound> arguments, Mutate* mutate, Builder* builder) {
  const Bound& first = arguments[0];
  const bool nothing = first.kind == Bound::Kind::kValue && first.value.is_null();
  if (arguments.size() == 1 && nothing) return OkStatus();
  if (arguments.size() == 1 && first.kind == Bound::Kind::kValue &&
      first.value.kind() == ValueKind::kMap) {
    for (const auto& [key, value] : first.value.AsMap()) {
      RETURN_IF_ERROR(AddProperty(key, Constant(value), first.span, mutate));
    }
    return OkStatus();
  }
  if (arguments.size() < 2) {
    return StepError("WRONG_ARGUMENTS", first.span, "property",
                     "property() takes a key and a value, or a map of them");
  }
  if (arguments.size() > 2) {
    return NotThereYet(
        arguments[2].span, "property",
        "properties of properties are not there yet; the element itself can have them");
  }
  ASSIGN_OR_RETURN(ExpressionPtr value, BuildValue(arguments[1], builder));
  if (first.IsTraversal()) {
    ASSIGN_OR_RETURN(ExpressionPtr key, BuildValue(first, builder));
    mutate->properties.emplace_back(std::move(key), std::move(value));
    return OkStatus();
  }
  Value key = first.value;
  if (first.IsEnum("T")) {
    key = first.name == "id"      ? Value::Of(Token::kId)
          : first.name == "label" ? Value::Of(Token::kLabel)
                                  : Value::Null();
  }
  return AddProperty(key, std::move(value), first.span, mutate);
}

StatusOr<Mutate> BuildAddition(Mutate::Kind kind, const std::string& default_label,
                               const StepCall& step, Builder* builder) {
  Mutate mutate;
  mutate.kind = kind;
  mutate.label = StringConstant(default_label);
  if (!step.args.empty()) {
    ASSIGN_OR_RETURN(mutate.label, BuildValue(step.args[0], builder));
  }
  for (const Modulator& property : step.properties) {
    RETURN_IF_ERROR(AddProperties(property.args, &mutate, builder));
  }
  return mutate;
}

// Where an edge begins or ends: a label, a vertex, or what a child finds.
StatusOr<ExpressionPtr> BuildEnd(const Modulator& modulator, Builder* builder) {
  const Bound& end = modulator.args[0];
  if (modulator.args.size() > 1 || end.kind == Bound::Kind::kEnum || end.IsPredicate()) {
    return StepError("WRONG_ARGUMENTS", end.span, modulator.call->name,
                     modulator.call->name +
                         "() behind addE() takes a label, a vertex or a "
                         "traversal");
  }
  if (end.IsTraversal()) return BuildValue(end, builder);
  if (end.IsString()) {
    return ValueOfLabel(end.value.AsString(), end.span, modulator.call->name, *builder);
  }
  Source source;
  source.ids = PlanValues{
      end.value.kind() == ValueKind::kElement ? PlanValue(end.value.AsElement().id) : end.value};
  Chain body;
  body.ops.push_back({std::move(source), end.span, CallText(*modulator.call)});
  const std::string name = builder->FreshName('p');
  builder->Emit(
      ScopeOf(plan::ScopeExit::FIRST, name, plan::Project::LEAVE_ABSENT, std::move(body)));
  return Named(name);
}

// The children of a change are the operations emitted from `begin` on.
class ChangeWithChildren {
 public:
  explicit ChangeWithChildren(Builder* builder)
      : builder_(builder),
        begin_(builder->num_ops()),
        before_(builder->env()),
        many_(builder->takes_many()) {}

  void Emit(Mutate mutate) {
    const bool adds = mutate.kind != Mutate::Kind::kSetProperty;
    const size_t children = builder_->num_ops() - begin_;
    builder_->Emit(std::move(mutate));
    const std::span<const Op> all = builder_->OpsFrom(begin_);
    if (!many_ || !Sees(all.first(children), all)) return;
    // What sets a property passes the element on; what adds one gives it.
    builder_->Enclose(begin_, std::move(before_),
                      adds ? plan::ScopeExit::ALL : plan::ScopeExit::EFFECT, false);
  }

 private:
  Builder* const builder_;
  const size_t begin_;
  TypeEnv before_;
  const bool many_;
};

}  // namespace

Status BuildAddVertex(const StepCall& step, Builder* builder) {
  ChangeWithChildren change(builder);
  ASSIGN_OR_RETURN(Mutate mutate, BuildAddition(Mutate::Kind::kAddVertex, "vertex", step, builder));
  change.Emit(std::move(mutate));
  return OkStatus();
}

Status BuildAddEdge(const StepCall& step, Builder* builder) {
  const bool starts = builder->at_start() && !builder->is_child();
  ChangeWithChildren change(builder);
  ASSIGN_OR_RETURN(Mutate mutate, BuildAddition(Mutate::Kind::kAddEdge, "edge", step, builder));
  for (const Modulator& modulator : step.from_tos) {
    ExpressionPtr& end = modulator.call->name == "from" ? mutate.out : mutate.in;
    ASSIGN_OR_RETURN(end, BuildEnd(modulator, builder));
  }
  if (starts && (mutate.out == nullptr || mutate.in == nullptr)) {
    return StepError("WRONG_ARGUMENTS", step.span(), step.name(),
                     "addE() at the start of a traversal needs from() and to()",
                     "addE('knows').from(V(1)).to(V(2))");
  }
  if (mutate.out == nullptr) mutate.out = Current();
  if (mutate.in == nullptr) mutate.in = Current();
  change.Emit(std::move(mutate));
  return OkStatus();
}

Status BuildProperty(const StepCall& step, Builder* builder) {
  std::span<const Bound> arguments = step.args;
  if (arguments[0].IsEnum("Cardinality")) {
    if (arguments[0].name != "single") {
      return NotThereYet(
          arguments[0].span, step.name(),
          "a property has one value yet; Cardinality." + arguments[0].name +
              " is not there yet; the one value can be a list or a set: property('k', [1, 2])");
    }
    arguments = arguments.subspan(1);
    if (arguments.empty()) {
      return StepError("WRONG_ARGUMENTS", step.span(), step.name(),
                       "property() takes a key and a value, or a map of them");
    }
  }
  Mutate all;
  all.kind = Mutate::Kind::kSetProperty;
  ChangeWithChildren change(builder);
  RETURN_IF_ERROR(AddProperties(arguments, &all, builder));
  for (auto& property : all.properties) {  // several are constants
    Mutate one;
    one.kind = all.kind;
    one.properties.push_back(std::move(property));
    if (all.properties.size() == 1) {
      change.Emit(std::move(one));
    } else {
      builder->Emit(std::move(one));
    }
  }
  return OkStatus();
}

Status BuildDrop(const StepCall&, Builder* builder) {
  builder->Emit(Mutate{});
  return OkStatus();
}

}  // namespace koios::planner
