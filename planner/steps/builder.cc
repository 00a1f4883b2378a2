#include "planner/steps/builder.h"

#include <algorithm>

#include "core/text/name_distance.h"
#include "parser/words.h"
#include "planner/op_table.h"
#include "planner/plan_error.h"
#include "planner/steps/expressions/label.h"
#include "planner/steps/expressions/path.h"
#include "planner/steps/expressions/predicate.h"
#include "planner/steps/expressions/running_flag.h"
#include "planner/steps/source/meetings.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

StatusOr<const StepSpec*> SpecOf(const parser::Call& call) {
  const StepSpec* spec = FindStep(call.name);
  if (spec != nullptr) return spec;
  // A misspelt predicate looks like a traversal of one step.
  const std::optional<std::string> predicate = NearestName(call.name, parser::PredicateNames());
  const std::string step = NearestStep(call.name);
  const std::string nearest = predicate && (step.empty() || NameDistance(call.name, *predicate) <
                                                                NameDistance(call.name, step))
                                  ? *predicate
                                  : step;
  std::string message = "there is no step \"" + call.name + "\"";
  if (!nearest.empty()) message += "; did you mean \"" + nearest + "\"?";
  return StepError("UNKNOWN_STEP", call.span, call.name, message,
                   nearest.empty() ? "" : nearest + "()");
}

// T.id and Direction.OUT are values where no such word but a value is wanted.
bool MatchesWithValues(const StepSpec& spec, std::vector<Bound>* arguments) {
  std::vector<Bound> values = *arguments;
  for (Bound& argument : values) {
    std::optional<Value> word = ValueOfWord(argument);
    if (!word) continue;
    argument.kind = Bound::Kind::kValue;
    argument.value = *std::move(word);
    for (const Signature& signature : SignaturesOf(spec)) {
      if (!MatchesSignature(signature, values)) continue;
      *arguments = std::move(values);
      return true;
    }
  }
  return false;
}

Status CheckArguments(const StepSpec& spec, const parser::Call& call, std::vector<Bound>* checked) {
  const std::vector<Bound>& arguments = *checked;
  std::string expected;
  for (const Signature& signature : SignaturesOf(spec)) {
    if (MatchesSignature(signature, arguments)) return OkStatus();
  }
  if (MatchesWithValues(spec, checked)) return OkStatus();
  for (const Signature& signature : SignaturesOf(spec)) {
    if (!expected.empty()) expected += " or ";
    expected += SignatureText(spec.name, signature);
  }
  std::string given;
  for (const Bound& argument : arguments) {
    if (!given.empty()) given += ", ";
    given += DescribeBound(argument);
    if (given.size() > 200) break;
  }
  return StepError("WRONG_ARGUMENTS", call.span, spec.name,
                   "step \"" + std::string(spec.name) + "\" takes " + expected + ", not " +
                       (given.empty() ? "no arguments" : given));
}

// As a signature of the step wants them.
StatusOr<std::vector<Bound>> BindAll(const StepSpec& spec, const parser::Call& call,
                                     const Parameters& parameters) {
  std::vector<Bound> arguments;
  arguments.reserve(call.arguments.size());
  for (const parser::Argument& argument : call.arguments) {
    ASSIGN_OR_RETURN(Bound bound, Bind(argument, parameters, call.name));
    arguments.push_back(std::move(bound));
  }
  RETURN_IF_ERROR(CheckArguments(spec, call, &arguments));
  return arguments;
}

bool IsInfix(const parser::Call& call, std::string_view name) {
  return call.name == name && call.arguments.empty();
}

// property(key, value) and property(map) behind addV() belong to it; with a cardinality, or with
// properties of its own, it is a step by itself.
bool SetAtAddition(const std::vector<Bound>& arguments) {
  if (arguments[0].IsEnum("Cardinality")) return false;
  return arguments.size() == 2 ||
         (arguments[0].kind == Bound::Kind::kValue &&
          (arguments[0].value.kind() == ValueKind::kMap || arguments[0].value.is_null()));
}

bool IsLoopTest(const parser::Call& call) {
  return call.name == "until" || call.name == "emit" || call.name == "times";
}

// Where the left side of the first infix and()/or() begins: behind the last step before it that
// starts from the graph, and what belongs to that step.
size_t LeftOfConjunction(std::span<const parser::Call> calls, size_t infix) {
  size_t begin = infix;
  while (begin > 0) {
    const StepSpec* spec = FindStep(calls[begin - 1].name);
    if (spec != nullptr && spec->Has(kStarts)) break;
    --begin;
  }
  if (begin == 0) return 0;
  while (begin < infix && FindStep(calls[begin].name) != nullptr &&
         FindStep(calls[begin].name)->Has(kModulates)) {
    ++begin;
  }
  return begin;
}

// The parts between the calls of `name` without arguments.
std::vector<std::span<const parser::Call>> SplitAtInfix(std::span<const parser::Call> calls,
                                                        std::string_view name) {
  std::vector<std::span<const parser::Call>> parts;
  size_t begin = 0;
  for (size_t i = 0; i <= calls.size(); ++i) {
    if (i < calls.size() && !IsInfix(calls[i], name)) continue;
    parts.push_back(calls.subspan(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

size_t NumLeadingAs(std::span<const parser::Call> calls) {
  size_t count = 0;
  while (count < calls.size() && calls[count].name == "as") ++count;
  return count;
}

}  // namespace

Status Builder::AppendRoot(const parser::Traversal& traversal) {
  is_child_ = false;
  query_->keeps_paths = ReadsPaths(traversal);
  query_->side_effects = FindSideEffects(traversal, *query_->parameters);
  Calls calls = traversal.calls;
  RETURN_IF_ERROR(TakeConfiguration(traversal, &calls));
  return AppendCalls(calls, true);
}

Status Builder::TakeConfiguration(const parser::Traversal& root, Calls* calls) {
  Configuration configuration;
  for (; !calls->empty(); *calls = calls->subspan(1)) {
    const parser::Call& call = calls->front();
    const StepSpec* spec = FindStep(call.name);
    if (spec == nullptr || !spec->Has(kConfigures) || !spec->IsThere()) break;
    ASSIGN_OR_RETURN(const std::vector<Bound> args, BindAll(*spec, call, *query_->parameters));
    RETURN_IF_ERROR(Configure(call.name, args, &configuration, &query_->side_effects));
  }
  if (calls->empty()) {
    return StepError("EMPTY_TRAVERSAL", root.span, "",
                     "a traversal begins with V(), E(), inject() or union()");
  }
  query_->sacks = std::move(configuration.sacks);
  query_->keeps_paths = query_->keeps_paths || configuration.keeps_paths;
  SackSettings& sacks = query_->sacks;
  FindSacks(root, &sacks);
  if (!sacks.meetings_show()) return OkStatus();
  sacks.written = true;
  return CheckMeetings(root, sacks);
}

void Builder::EmitMeeting(bool normalise) {
  Emit(MeetingOf(query_->sacks, normalise, keeps_paths()));
  query_->sacks.met = query_->sacks.met || (sacks().bulks && !sacks().operator_.empty());
}

Status Builder::AppendChild(const parser::Traversal& traversal) {
  return AppendCalls(traversal.calls, false);
}

void Builder::Emit(Operation operation) {
  chain_.ops.push_back(Op{std::move(operation), span_, step_});
  Advance(chain_.ops.back(), &env_);
}

Status Builder::UnionWith(Chain other) {
  if (++joins_ > kMaxJoins) {
    ErrorDetail detail;
    detail.reason = "TOO_MANY_JOINS";
    detail.span = span_;
    detail.limit = std::to_string(kMaxJoins) + " steps inject() and optional() in one traversal";
    detail.used = std::to_string(joins_);
    detail.hint = "Give inject() all values at once, or put optional() steps into a loop.";
    return ResourceExhausted("the traversal has more than " + detail.limit, detail);
  }
  Split split;
  const bool starts = chain_.ops.empty();
  split.branches.push_back(std::move(starts ? other : chain_));
  split.branches.push_back(std::move(starts ? chain_ : other));
  chain_ = Chain{};
  env_ = is_child_ ? start_ : TypeEnv{};
  Emit(std::move(split));
  return OkStatus();
}

std::string Builder::FreshName(char prefix) {
  return std::string("~") + prefix + std::to_string(query_->next_name++);
}

std::string Builder::Store(const ExpressionPtr& value) {
  if (value->kind == Expression::Kind::kCurrent) return "";
  if (value->kind == Expression::Kind::kNamed) return value->name;
  std::string name = FreshName('k');
  Emit(Project{value, name, plan::Project::DROP_ROW});
  return name;
}

void Builder::Enclose(size_t begin, TypeEnv before, plan::ScopeExit::Policy policy,
                      bool keeps_labels) {
  const auto first = chain_.ops.begin() + static_cast<std::ptrdiff_t>(begin);
  Chain body;
  body.ops.assign(std::make_move_iterator(first), std::make_move_iterator(chain_.ops.end()));
  chain_.ops.erase(first, chain_.ops.end());
  env_ = std::move(before);
  Scope scope = ScopeOf(policy, "", plan::Project::DROP_ROW, std::move(body));
  scope.keeps_labels = keeps_labels;
  Emit(std::move(scope));
}

ExpressionPtr Builder::EmitFlag(Chain child) {
  const std::string flag = FreshName('f');
  Emit(ScopeOf(plan::ScopeExit::EXISTS_FLAG, flag, plan::Project::DROP_ROW, std::move(child)));
  env_.names.erase(flag);  // read by the condition only, never by a child
  return Named(flag);
}

StatusOr<Chain> Builder::Child(const Bound& argument, LabelMode mode) {
  return ChildFrom(argument, env_, mode);
}

StatusOr<Chain> Builder::ChildFrom(const Bound& argument, TypeEnv env, LabelMode mode) {
  RETURN_IF_ERROR(CheckNames(2 * kMaxLabels));  // a child copies them
  Builder child(query_, std::move(env), mode);
  child.is_child_ = is_child_ || !at_start();
  child.span_ = argument.span;
  child.step_ = step_;
  child.loop_ = loop_;
  child.lenient_ = lenient_;
  RETURN_IF_ERROR(child.AppendChild(*argument.traversal));
  return child.Take();
}

Builder Builder::Inner(TypeEnv env) const {
  Builder child(query_, std::move(env), mode_);
  child.span_ = span_;
  child.step_ = step_;
  child.loop_ = loop_;
  child.lenient_ = lenient_;
  return child;
}

StatusOr<Chain> Builder::ChildOfCalls(Calls calls) {
  Builder child(query_, env_, mode_);
  child.span_ = span_;
  child.step_ = step_;
  child.loop_ = loop_;
  child.lenient_ = lenient_;
  RETURN_IF_ERROR(child.AppendPlain(calls, false));
  return child.Take();
}

StatusOr<Chain> Builder::LoopBody(const Bound& argument, TypeEnv env, LoopPlace place) {
  std::swap(loop_, place);
  StatusOr<Chain> body = ChildFrom(argument, std::move(env), LabelMode::kPlain);
  std::swap(loop_, place);
  return body;
}

StatusOr<Chain> Builder::LoopConditions(const std::vector<Modulator>& modulators, TypeEnv env,
                                        LoopPlace place, LoopTests* tests) {
  Builder conditions(query_, std::move(env), mode_);
  conditions.loop_ = std::move(place);
  conditions.step_ = step_;
  conditions.lenient_ = lenient_ || modulators.size() > 1;
  for (const Modulator& modulator : modulators) {
    conditions.span_ = modulator.call->span;
    ExpressionPtr* test = modulator.call->name == "emit" ? &tests->emit : &tests->until;
    if (modulator.args.empty()) {
      *test = Constant(Value::Bool(true));
    } else if (modulator.call->name == "times") {
      const ExpressionPtr done = CallOf("loops", {Constant(Value::Int(conditions.loop_.plus))});
      *test = CallOf("gte", {done, Constant(modulator.args[0].value)});
    } else if (modulator.args[0].IsPredicate()) {
      ASSIGN_OR_RETURN(*test, BuildPredicate(modulator.args[0], Current(), "repeat"));
    } else {
      ASSIGN_OR_RETURN(Chain child, conditions.Child(modulator.args[0]));
      *test = conditions.EmitFlag(std::move(child));
    }
  }
  return conditions.Take();
}

Status Builder::AppendCalls(Calls calls, bool root) {
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!IsInfix(calls[i], "or") && !IsInfix(calls[i], "and")) continue;
    const size_t left = LeftOfConjunction(calls, i);
    return AppendConjunction(calls.subspan(0, left), calls.subspan(left), root);
  }
  return AppendPlain(calls, root);
}

// a().or().b().and().c() is or(a(), and(b(), c())).
Status Builder::AppendConjunction(Calls left, Calls calls, bool root) {
  RETURN_IF_ERROR(AppendPlain(left, root));
  std::vector<ExpressionPtr> any;
  RunningFlag decided("or");
  const bool outer = lenient_;
  for (Calls alternative : SplitAtInfix(calls, "or")) {
    std::vector<ExpressionPtr> all;
    RunningFlag holds("and");
    for (Calls part : SplitAtInfix(alternative, "and")) {
      if (part.empty()) {
        return StepError("WRONG_ARGUMENTS", calls[0].span, calls[0].name,
                         "and() and or() without arguments stand between two conditions");
      }
      span_ = part[0].span;
      step_ = CallText(part[0]);
      ASSIGN_OR_RETURN(Chain body, ChildOfCalls(part));
      AskOnlyUndecided(&decided, &holds, this, &body);
      all.push_back(EmitFlag(std::move(body)));
      holds.Add(all.back());
      lenient_ = true;  // all are asked, though one may have decided
    }
    any.push_back(all.size() == 1 ? all[0] : CallOf("and", std::move(all)));
    decided.Add(any.back());
  }
  lenient_ = outer;
  Emit(Filter{any.size() == 1 ? any[0] : CallOf("or", std::move(any))});
  return OkStatus();
}

Status Builder::AppendPlain(Calls calls, bool root) {
  const bool starts = at_start();
  if (calls.empty()) return OkStatus();
  RETURN_IF_ERROR(StoreEnd(calls));
  size_t at = starts ? NumLeadingAs(calls) : 0;
  if (at > 0) RETURN_IF_ERROR(TakeStart(calls.subspan(0, at)));
  Meetings meetings(sacks(), !keeps_paths(), calls);
  while (at < calls.size()) {
    const bool first = at == 0;
    ASSIGN_OR_RETURN(StepCall step, TakeStep(calls, &at));
    span_ = step.span();
    step_ = step.text;
    if (meetings.Before(step)) EmitMeeting(/*normalise=*/false);
    const size_t begin = chain_.ops.size();
    RETURN_IF_ERROR(BuildStep(step, root && first));
    StoreLabels(at == calls.size(), &step.labels);
    KeepPath(std::min(begin, chain_.ops.size()), step.labels);
    const parser::Call* next = at < calls.size() ? &calls[at] : nullptr;
    if (meetings.Behind(step, first, next)) EmitMeeting(/*normalise=*/false);
    std::erase_if(env_.names, [](const auto& entry) {  // only the step itself read those
      return !IsOfHistory(entry.first);
    });
    RETURN_IF_ERROR(CheckNames(kMaxLabels));
  }
  return OkStatus();
}

// as() at the end of a where() compares with what its label stands for at the start, whatever the
// child stores under the same name.
Status Builder::StoreEnd(Calls calls) {
  if (mode_ != LabelMode::kVariables || calls.back().name != "as") return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<Bound> labels, BindLabels(calls.back()));
  if (labels.size() > 1 || (calls.size() > 1 && calls[calls.size() - 2].name == "as")) {
    return StepError("WRONG_ARGUMENTS", calls.back().span, "as",
                     "the end of a traversal in where() can only have one label");
  }
  if (calls.size() == 1) return OkStatus();  // it is the start as well
  const std::string& name = labels[0].value.AsString();
  ASSIGN_OR_RETURN(ExpressionPtr value, RequiredLabel(name, labels[0].span, "as", this));
  end_ = FreshName('e');
  Emit(Project{std::move(value), end_, plan::Project::DROP_ROW});
  return OkStatus();
}

StatusOr<std::vector<Bound>> Builder::BindLabels(const parser::Call& as) {
  ASSIGN_OR_RETURN(std::vector<Bound> labels, BindAll(*FindStep("as"), as, *query_->parameters));
  span_ = as.span;
  step_ = CallText(as);
  return labels;
}

// as() at the start: in where() one label is a variable, elsewhere they label what comes in.
Status Builder::TakeStart(Calls calls) {
  std::vector<std::string> labels;
  for (const parser::Call& call : calls) {
    ASSIGN_OR_RETURN(const std::vector<Bound> bound, BindLabels(call));
    if (mode_ == LabelMode::kVariables && calls.size() == 1 && bound.size() == 1) {
      ASSIGN_OR_RETURN(ExpressionPtr value,
                       RequiredLabel(bound[0].value.AsString(), bound[0].span, "as", this));
      Emit(Project{std::move(value), "", plan::Project::DROP_ROW});
      KeepPath(0, labels);
      return OkStatus();
    }
    for (const Bound& label : bound) labels.push_back(label.value.AsString());
  }
  StoreLabels(false, &labels);
  KeepPath(0, labels);
  return OkStatus();
}

void Builder::StoreLabels(bool last, std::vector<std::string>* labels) {
  std::vector<std::string> stored;
  for (std::string& label : *labels) {
    if (last && !end_.empty()) {
      Emit(Filter{CallOf("eq", {Current(), Named(end_)})});
    } else {
      Emit(Project{Current(), label, plan::Project::DROP_ROW});
      stored.push_back(std::move(label));
    }
  }
  *labels = std::move(stored);
}

void Builder::KeepPath(size_t begin, const std::vector<std::string>& labels) {
  if (!keeps_paths()) return;
  const bool grows =
      std::any_of(chain_.ops.begin() + static_cast<std::ptrdiff_t>(begin), chain_.ops.end(),
                  [](const Op& op) { return TraitsOf(op).new_value; });
  if (std::optional<Project> path = GrownPath(grows, labels)) Emit(*std::move(path));
}

Status Builder::CheckNames(size_t most) {
  if (env_.names.size() <= most) return OkStatus();
  ErrorDetail detail;
  detail.reason = "TOO_MANY_LABELS";
  detail.span = span_;
  detail.limit = std::to_string(most);
  detail.used = std::to_string(env_.names.size());
  return ResourceExhausted(
      "the traversal has more than " + std::to_string(most) + " labels and stored values", detail);
}

StatusOr<StepCall> Builder::TakeStep(Calls calls, size_t* at) {
  StepCall step;
  RETURN_IF_ERROR(TakeLoopTests(calls, at, &step.tests_before));
  const parser::Call& call = calls[*at];
  ASSIGN_OR_RETURN(const StepSpec* spec, SpecOf(call));
  if (spec->IsThere() && spec->build == nullptr) {
    return StepError("MISPLACED_STEP", call.span, call.name,
                     call.name + "() changes the step before it, and there is none that takes it");
  }
  if (!spec->IsThere()) {
    return NotThereYet(call.span, call.name, "the step " + call.name + "() is not there yet");
  }
  step.spec = spec;
  step.call = &call;
  step.text = CallText(call);
  ASSIGN_OR_RETURN(step.args, BindAll(*spec, call, *query_->parameters));
  ++*at;
  RETURN_IF_ERROR(TakeModulators(calls, at, &step));
  return step;
}

// until(), emit() and times() in front of the repeat() that they belong to.
Status Builder::TakeLoopTests(Calls calls, size_t* at, std::vector<Modulator>* tests) {
  for (; *at < calls.size() && IsLoopTest(calls[*at]); ++*at) {
    const parser::Call& call = calls[*at];
    ASSIGN_OR_RETURN(std::vector<Bound> arguments,
                     BindAll(*FindStep(call.name), call, *query_->parameters));
    tests->push_back({&call, std::move(arguments)});
  }
  if (tests->empty() || (*at < calls.size() && calls[*at].name == "repeat")) return OkStatus();
  const parser::Call& last = *tests->back().call;
  return StepError("MISPLACED_STEP", last.span, last.name,
                   last.name + "() stands directly before or behind repeat()");
}

Status Builder::TakeModulators(Calls calls, size_t* at, StepCall* step) {
  for (; *at < calls.size(); ++*at) {
    const parser::Call& call = calls[*at];
    ASSIGN_OR_RETURN(const StepSpec* spec, SpecOf(call));
    const bool from_to =
        (call.name == "from" || call.name == "to") && step->spec->Has(kTakesFromTo);
    const bool property = call.name == "property" && step->spec->Has(kTakesProperties);
    if (!spec->Has(kModulates) && !from_to && !property) return OkStatus();
    ASSIGN_OR_RETURN(std::vector<Bound> arguments, BindAll(*spec, call, *query_->parameters));
    if (property && !SetAtAddition(arguments)) return OkStatus();
    if (from_to || property) {
      auto& modulators = from_to ? step->from_tos : step->properties;
      modulators.push_back({&call, std::move(arguments)});
      continue;
    }
    if (call.name == "as") {
      for (const Bound& label : arguments) step->labels.push_back(label.value.AsString());
      continue;
    }
    const bool by = call.name == "by" && step->spec->Has(kTakesBy);
    const bool option = call.name == "option" && step->spec->Has(kTakesOption);
    const bool with = call.name == "with" && step->spec->Has(kTakesWith);
    if (IsLoopTest(call) && step->spec->Has(kTakesLoopTests)) {
      step->tests_behind.push_back({&call, std::move(arguments)});
      continue;
    }
    if (IsLoopTest(call)) return OkStatus();  // of the next repeat()
    if (!by && !option && !with) {
      return StepError("MISPLACED_STEP", call.span, call.name,
                       call.name + "() cannot follow " + step->call->name + "()");
    }
    const bool merges = step->call->name == "mergeV" || step->call->name == "mergeE";
    if (option && merges != arguments[0].IsEnum("Merge")) {
      return StepError("WRONG_ARGUMENTS", call.span, call.name,
                       merges ? "option() behind " + step->call->name +
                                    "() takes a Merge and a map or a traversal"
                              : "option() with a Merge stands behind mergeV() and mergeE()");
    }
    auto& modulators = by ? step->bys : option ? step->options : step->withs;
    modulators.push_back({&call, std::move(arguments)});
  }
  return OkStatus();
}

Status Builder::BuildStep(const StepCall& step, bool first_of_root) {
  if (first_of_root && !step.spec->Has(kStarts)) {
    return StepError("MISPLACED_STEP", step.span(), step.name(),
                     "a traversal begins with V(), E(), inject() or union(), not with " +
                         std::string(step.name()) + "()",
                     "V()." + step.text);
  }
  return step.spec->build(step, this);
}

}  // namespace koios::planner
