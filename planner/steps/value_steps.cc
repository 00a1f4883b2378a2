#include "planner/plan_error.h"
#include "planner/steps/expressions/by.h"
#include "planner/steps/expressions/label.h"
#include "planner/steps/side_effects.h"
#include "planner/steps/steps.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

std::vector<std::string> KeysOf(const StepCall& step, size_t from) {
  std::vector<std::string> keys;
  for (size_t i = from; i < step.args.size(); ++i) {
    if (step.args[i].IsString()) keys.push_back(step.args[i].value.AsString());
  }
  return keys;
}

// Where select() finds `label`. A stored value is the last one with its label; only what needs
// others asks the path.
StatusOr<ExpressionPtr> SelectSource(const std::string& label, const SourceSpan& span,
                                     const std::string& pop, const StepCall& step,
                                     const Builder& builder) {
  const auto found = builder.env().names.find(label);
  if (found == builder.env().names.end() || IsSideEffect(label, builder) || pop == "last" ||
      (pop != "all" && !found->second.many)) {
    return ValueOfLabel(label, span, step.name(), builder);
  }
  return EntryOr(label,
                 CallOf("path_select", {CarriedPath(), StringConstant(label), StringConstant(pop)}),
                 builder);
}

// What a key stands for that is not known before the row comes: an entry of the current map, or any
// side-effect or label.
StatusOr<ExpressionPtr> SourceOfKey(const ExpressionPtr& key, const SourceSpan& span,
                                    const std::string& pop, const StepCall& step,
                                    const Builder& builder) {
  std::vector<ExpressionPtr> known;
  const auto add = [&](const std::string& name) -> Status {
    ASSIGN_OR_RETURN(ExpressionPtr value, SelectSource(name, span, pop, step, builder));
    known.push_back(StringConstant(name));
    known.push_back(std::move(value));
    return OkStatus();
  };
  for (const auto& [name, effect] : *builder.side_effects()) RETURN_IF_ERROR(add(name));
  for (const auto& [name, stored] : builder.env().names) {
    if (IsLabel(name) && !IsSideEffect(name, builder)) RETURN_IF_ERROR(add(name));
  }
  ExpressionPtr entry = CallOf("map_get", {Current(), key});
  if (known.empty()) return entry;
  ExpressionPtr stored = CallOf("map_get", {CallOf("map_of", std::move(known)), key});
  return CallOf("first_of", {std::move(entry), std::move(stored)});
}

// A label that is not there drops the row, also where its by() would give something of nothing.
void RequirePresent(const ExpressionPtr& value, const Modulator* by, Builder* builder) {
  const bool is_child = by != nullptr && !by->args.empty() && by->args[0].IsTraversal();
  const bool is_named = value->kind == Expression::Kind::kNamed;
  if ((!is_child && !is_named) || IsAlwaysThere(*value, builder->env())) return;
  builder->Emit(Filter{CallOf("present", {value})});
}

// by(unfold()), which the engine's value_map does itself.
bool IsByUnfold(const StepCall& step) {
  if (step.bys.size() != 1) return false;
  const std::vector<Bound>& args = step.bys[0].args;
  if (args.size() != 1 || !args[0].IsTraversal()) return false;
  const std::vector<parser::Call>& calls = args[0].traversal->calls;
  return calls.size() == 1 && calls[0].name == "unfold" && calls[0].arguments.empty();
}

StatusOr<ValueList> ValueMapOptions(const StepCall& step) {
  ValueList options;
  if (!step.args.empty() && step.args[0].value.kind() == ValueKind::kBool &&
      step.args[0].value.AsBool()) {
    options.push_back(Value::String("tokens"));
  }
  for (const Modulator& with : step.withs) {
    const Bound& key = with.args[0];
    const std::string word = with.args.size() > 1 ? with.args[1].name : "all";
    const bool known = word == "all" || word == "ids" || word == "labels" || word == "none" ||
                       word == "keys" || word == "values";
    if (!key.IsEnum("WithOptions") || key.name != "tokens" || !known) {
      return NotThereYet(with.call->span, "with", "this option of valueMap() is not there yet");
    }
    options.push_back(Value::String(word == "all" ? "tokens" : word));
  }
  if (IsByUnfold(step)) options.push_back(Value::String("unfold"));
  return options;
}

// The map as by() sees its values, unless they are so already.
Status EmitMap(ExpressionPtr map, bool is_done, const StepCall& step, Builder* builder) {
  RETURN_IF_ERROR(CheckByCount(step, 1));
  if (!is_done && !step.bys.empty() && !step.bys[0].args.empty()) {
    ASSIGN_OR_RETURN(map, BuildBysOfEntries(map, step, builder));
  }
  builder->Emit(Project{std::move(map), "", plan::Project::DROP_ROW});
  return OkStatus();
}

}  // namespace

Status BuildValues(const StepCall& step, Builder* builder) {
  Fetch fetch;
  fetch.keys = KeysOf(step, 0);
  fetch.as_properties = step.name() == "properties";
  if (fetch.keys.empty() && !step.args.empty()) {
    builder->Emit(Filter{Constant(Value::Bool(false))});  // values(null)
    return OkStatus();
  }
  // Other values fail where properties are fetched, but where the child is one expression.
  const ValueType type = builder->env().current;
  if (type == ValueType::kScalar || type == ValueType::kList || type == ValueType::kBag ||
      type == ValueType::kMap || type == ValueType::kEntry) {
    Require(Current(), kElements, std::string(step.name()) + "()", builder);
  }
  builder->Emit(std::move(fetch));
  return OkStatus();
}

Status BuildToken(const StepCall& step, Builder* builder) {
  const std::string name(step.name());
  builder->Emit(
      Project{TokenValue(name, Current(), name + "()", builder), "", plan::Project::DROP_ROW});
  return OkStatus();
}

Status BuildConstant(const StepCall& step, Builder* builder) {
  builder->Emit(Project{Constant(step.args[0].value), "", plan::Project::DROP_ROW});
  return OkStatus();
}

Status BuildIdentity(const StepCall&, Builder*) { return OkStatus(); }

Status BuildValueMap(const StepCall& step, Builder* builder) {
  ASSIGN_OR_RETURN(ValueList options, ValueMapOptions(step));
  ASSIGN_OR_RETURN(Value wanted, Value::List(std::move(options)));
  std::vector<ExpressionPtr> args = {Current(), Constant(std::move(wanted))};
  for (std::string& key : KeysOf(step, 0)) args.push_back(StringConstant(std::move(key)));
  Require(Current(), kElements, "valueMap()", builder);
  return EmitMap(CallOf("value_map", std::move(args)), IsByUnfold(step), step, builder);
}

Status BuildElementMap(const StepCall& step, Builder* builder) {
  std::vector<ExpressionPtr> args = {Current()};
  for (std::string& key : KeysOf(step, 0)) args.push_back(StringConstant(std::move(key)));
  Require(Current(), kElements, "elementMap()", builder);
  builder->Emit(Project{CallOf("element_map", std::move(args)), "", plan::Project::DROP_ROW});
  return OkStatus();
}

Status BuildPropertyMap(const StepCall& step, Builder* builder) {
  std::vector<ExpressionPtr> args = {Current()};
  for (std::string& key : KeysOf(step, 0)) args.push_back(StringConstant(std::move(key)));
  Require(Current(), kElements, "propertyMap()", builder);
  return EmitMap(CallOf("property_map", std::move(args)), false, step, builder);
}

Status BuildSelect(const StepCall& step, Builder* builder) {
  const std::string pop = step.args[0].IsEnum("Pop") ? step.args[0].name : "last";
  if (const Bound& asked = step.args.back(); asked.IsTraversal()) {
    RETURN_IF_ERROR(CheckByCount(step, 1));
    ASSIGN_OR_RETURN(const ExpressionPtr key,
                     BuildByArgument(asked, Current(), plan::Project::DROP_ROW, step, builder));
    ASSIGN_OR_RETURN(const ExpressionPtr source, SourceOfKey(key, asked.span, pop, step, *builder));
    if (!step.bys.empty()) RequirePresent(source, ByAt(step, 0), builder);
    ASSIGN_OR_RETURN(ExpressionPtr value,
                     BuildBy(ByAt(step, 0), source, plan::Project::DROP_ROW, step, builder));
    builder->Emit(Project{std::move(value), "", plan::Project::DROP_ROW});
    return OkStatus();
  }
  if (step.args[0].IsEnum("Column")) {
    RETURN_IF_ERROR(CheckByCount(step, 0));
    const std::string& column = step.args[0].name;
    ExpressionPtr part = ColumnValue(column, Current(), "select(" + column + ")", builder);
    builder->Emit(Project{std::move(part), "", plan::Project::DROP_ROW});
    return OkStatus();
  }
  const std::vector<std::string> labels = KeysOf(step, 0);
  if (labels.size() == 1) {
    ASSIGN_OR_RETURN(const ExpressionPtr source,
                     SelectSource(labels[0], step.args.back().span, pop, step, *builder));
    if (!step.bys.empty()) RequirePresent(source, ByAt(step, 0), builder);
    ASSIGN_OR_RETURN(ExpressionPtr value,
                     BuildBy(ByAt(step, 0), source, plan::Project::DROP_ROW, step, builder));
    builder->Emit(Project{std::move(value), "", plan::Project::DROP_ROW});
    return OkStatus();
  }
  std::vector<ExpressionPtr> pairs;
  for (size_t i = 0; i < labels.size(); ++i) {
    const SourceSpan& span = step.args[step.args.size() - labels.size() + i].span;
    ASSIGN_OR_RETURN(const ExpressionPtr source,
                     SelectSource(labels[i], span, pop, step, *builder));
    RequirePresent(source, ByAt(step, i), builder);
    ASSIGN_OR_RETURN(ExpressionPtr value,
                     BuildBy(ByAt(step, i), source, plan::Project::DROP_ROW, step, builder));
    if (value->kind == Expression::Kind::kCall) value = Named(builder->Store(value));
    const size_t first = std::find(labels.begin(), labels.end(), labels[i]) - labels.begin();
    if (first < i) {  // the same label again: its last value counts
      pairs[2 * first + 1] = std::move(value);
      continue;
    }
    pairs.push_back(StringConstant(labels[i]));
    pairs.push_back(std::move(value));
  }
  builder->Emit(Project{CallOf("map_of", std::move(pairs)), "", plan::Project::DROP_ROW});
  return OkStatus();
}

Status BuildProject(const StepCall& step, Builder* builder) {
  const std::vector<std::string> keys = KeysOf(step, 0);
  RETURN_IF_ERROR(CheckByCount(step, keys.size()));
  std::vector<ExpressionPtr> pairs;
  std::set<std::string> seen;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!seen.insert(keys[i]).second) {
      return StepError("WRONG_ARGUMENTS", step.args[i].span, step.name(),
                       "project() names \"" + keys[i] + "\" twice");
    }
    ASSIGN_OR_RETURN(ExpressionPtr value,
                     BuildBy(ByAt(step, i), Current(), plan::Project::LEAVE_ABSENT, step, builder));
    pairs.push_back(StringConstant(keys[i]));
    pairs.push_back(std::move(value));
  }
  builder->Emit(Project{CallOf("map_of", std::move(pairs)), "", plan::Project::DROP_ROW});
  return OkStatus();
}

Status BuildElement(const StepCall&, Builder* builder) {
  Require(Current(), "pq", "element()", builder);
  builder->Emit(Project{CallOf("element", {Current()}), "", plan::Project::DROP_ROW});
  return OkStatus();
}

Status BuildIndex(const StepCall& step, Builder* builder) {
  bool as_map = false;
  for (const Modulator& with : step.withs) {
    const Bound& key = with.args[0];
    const std::string word = with.args.size() > 1 ? with.args[1].name : "";
    if (!key.IsEnum("WithOptions") || key.name != "indexer" || (word != "list" && word != "map")) {
      return StepError("WRONG_ARGUMENTS", with.call->span, "with",
                       "index() takes with(WithOptions.indexer, WithOptions.list) or "
                       "with(WithOptions.indexer, WithOptions.map)");
    }
    as_map = word == "map";
  }
  ExpressionPtr indexed = CallOf("index", {Current(), Constant(Value::Bool(as_map))});
  builder->Emit(Project{std::move(indexed), "", plan::Project::DROP_ROW});
  return OkStatus();
}

Status BuildUnfold(const StepCall&, Builder* builder) {
  builder->Emit(Unfold{});
  return OkStatus();
}

}  // namespace koios::planner
