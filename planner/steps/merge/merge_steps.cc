// mergeV mergeE: an element that has what the map says, or a new one. They are what is written by
// hand as coalesce(V() and filters, addV()): look-ups by ids, by indexes and along edges, their
// guards, and the order in which traversers see each other's additions are those of coalesce().
#include "planner/op_table.h"
#include "planner/plan_error.h"
#include "planner/steps/expressions/by.h"
#include "planner/steps/merge/merge_map.h"
#include "planner/steps/merge/stored_map.h"
#include "planner/steps/steps.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

const Value kMergeId = Value::Of(Token::kId);
const Value kMergeLabel = Value::Of(Token::kLabel);

Value IdOf(const Value& id_or_element) {
  return id_or_element.kind() == ValueKind::kElement ? id_or_element.AsElement().id : id_or_element;
}

Source SourceOf(plan::ElementKind element, const Value* id, const Builder& builder) {
  Source source;
  source.element = element;
  source.graph = builder.graph();
  if (id != nullptr) source.ids = PlanValues{IdOf(*id)};
  return source;
}

void EmitLabelFilter(const ValueMap& map, Builder* builder) {
  const Value* label = FindKey(map, kMergeLabel);
  if (label != nullptr) builder->Emit(Filter{HasLabel({label->AsString()})});
}

void EmitPropertyFilters(const ValueMap& map, Builder* builder) {
  for (const auto& [key, value] : map) {
    if (key.kind() != ValueKind::kString) continue;
    builder->Emit(Filter{CallOf("eq", {PropertyOf(Current(), key.AsString()), Constant(value)})});
  }
}

void EmitVertices(const ValueMap& map, Builder* builder) {
  builder->Emit(SourceOf(plan::VERTEX, FindKey(map, kMergeId), *builder));
  EmitLabelFilter(map, builder);
  EmitPropertyFilters(map, builder);
}

Mutate AdditionOf(Mutate::Kind kind, const ValueMap& map, const std::string& default_label) {
  Mutate addition;
  addition.kind = kind;
  const Value* label = FindKey(map, kMergeLabel);
  addition.label = label != nullptr ? Constant(*label) : StringConstant(default_label);
  if (const Value* id = FindKey(map, kMergeId)) addition.id = Constant(*id);
  for (const auto& [key, value] : map) {
    if (key.kind() == ValueKind::kString) {
      addition.properties.emplace_back(Constant(key), Constant(value));
    }
  }
  return addition;
}

// The current element has what the map says, from now on.
void EmitSets(const ValueMap& map, Builder* builder) {
  for (const auto& [key, value] : map) {
    Mutate set;
    set.kind = Mutate::Kind::kSetProperty;
    set.properties.emplace_back(Constant(key), Constant(value));
    builder->Emit(std::move(set));
  }
}

// One mergeV() or mergeE() with its options.
class MergeStep {
 public:
  MergeStep(const StepCall& step, Builder* builder) : step_(step), builder_(builder) {}

  // What the traverser knows of the maps is stored in front of the look.
  Status Read() {
    RETURN_IF_ERROR(ReadOptions());
    if (step_.args.empty()) {
      if (AtSeed()) {
        return StepError("WRONG_ARGUMENTS", step_.span(), step_.name(),
                         std::string(step_.name()) +
                             "() without a map takes the one that comes in: at the start of a "
                             "traversal there is none");
      }
      return StoreSearch(Chain{});
    }
    ASSIGN_OR_RETURN(std::optional<ValueMap> search,
                     MapOfArgument(step_.args[0], *step_.call, 0, MergeUse::kFind));
    if (!search) {
      ASSIGN_OR_RETURN(Chain child, builder_->Child(step_.args[0]));
      return StoreSearch(std::move(child));
    }
    search_ = *std::move(search);
    create_ = search_;
    if (on_create_ == nullptr) return OkStatus();
    ASSIGN_OR_RETURN(std::optional<ValueMap> more,
                     MapOfArgument(on_create_->args[1], *on_create_->call, 1, MergeUse::kFind));
    depends_ = !more;
    if (depends_) return OkStatus();
    ASSIGN_OR_RETURN(create_, JoinMergeMaps(search_, *more, on_create_->args[1].span));
    return OkStatus();
  }

  // mergeV(): the vertices that are looked for.
  void EmitFound(Builder* found) const {
    if (stored_.empty()) {
      EmitVertices(search_, found);
    } else {
      EmitVerticesOf(stored_, found);
    }
  }

  // mergeV(): the vertex that is added.
  Status EmitAdded(Builder* added) {
    if (!depends_) {
      added->Emit(AdditionOf(Mutate::Kind::kAddVertex, create_, "vertex"));
      return OkStatus();
    }
    ASSIGN_OR_RETURN(const Maps maps, StoreMaps(added));
    EmitVertexAddition(maps.searched, maps.more, added);
    return OkStatus();
  }

  // mergeE(): the edge that is added. `ends`: what options of the step give.
  Status EmitAddedEdge(const StoredEnds& ends, Builder* added) {
    if (depends_) {
      ASSIGN_OR_RETURN(const Maps maps, StoreMaps(added));
      EmitEdgeAddition(maps.searched, maps.more, ends, added);
      return OkStatus();
    }
    Mutate addition = AdditionOf(Mutate::Kind::kAddEdge, create_, "edge");
    addition.out = ends.out;
    addition.in = ends.in;
    if (addition.out == nullptr) {
      ASSIGN_OR_RETURN(addition.out, EmitEnd(create_, Direction::kOut, true, added));
    }
    if (addition.in == nullptr) {
      ASSIGN_OR_RETURN(addition.in, EmitEnd(create_, Direction::kIn, true, added));
    }
    if (addition.out != nullptr && addition.in != nullptr) added->Emit(std::move(addition));
    return OkStatus();
  }

  void EmitFirstOf(Chain found, Chain added) {
    Scope scope;
    scope.policy = plan::ScopeExit::ALL;
    scope.bodies.push_back(std::move(found));
    scope.bodies.push_back(std::move(added));
    for (Project& store : StoresBefore(scope)) builder_->Emit(std::move(store));
    builder_->Emit(std::move(scope));
  }

  // What is to be done with each element that was found. The option's child sees it, with the
  // labels of the traverser that looked for it.
  Status EmitOnMatch(Builder* found) {
    if (on_match_ == nullptr) return OkStatus();
    const Bound& argument = on_match_->args[1];
    if (!argument.IsTraversal()) {
      ASSIGN_OR_RETURN(const std::optional<ValueMap> map,
                       MapOfArgument(argument, *on_match_->call, 1, MergeUse::kSet));
      EmitSets(*map, found);
      return OkStatus();
    }
    ASSIGN_OR_RETURN(Chain child, found->Child(argument));
    Chain last;
    if (!child.ops.empty()) last.ops.push_back(child.ops.back());
    const bool always = std::all_of(child.ops.begin(), child.ops.end(), [](const Op& op) {
      return TraitsOf(op).every_row || As<Project>(op) != nullptr;
    });
    if (std::optional<ValueMap> map = ConstantMapOf(last, false); map && always) {
      RETURN_IF_ERROR(CheckMergeMap(*map, MergeUse::kSet, step_.name(), argument.span));
      child.ops.pop_back();
      if (!child.ops.empty()) {
        found->Emit(
            ScopeOf(plan::ScopeExit::EFFECT, "", plan::Project::DROP_ROW, std::move(child)));
      }
      EmitSets(*map, found);
      return OkStatus();
    }
    EmitSetsOf(EmitStoredMap(std::move(child), "option(onMatch)", found), false, found);
    return OkStatus();
  }

  // mergeE(): stores where the edge is to begin or to end, as the map says.
  // `fresh`: for an edge that is added; else only what an option resolves is stored.
  StatusOr<ExpressionPtr> EmitEnd(const ValueMap& map, Direction direction, bool fresh,
                                  Builder* builder) {
    const Value* value = FindKey(map, Value::Of(direction));
    const bool out = direction == Direction::kOut;
    if (value == nullptr) {
      if (!fresh) return ExpressionPtr(nullptr);
      EmitMust(Constant(Value::Bool(false)),
               std::string(out ? "Out" : "In") +
                   " Vertex not specified in onCreate - edge cannot be created",
               builder);
      return ExpressionPtr(nullptr);
    }
    if (value->kind() == ValueKind::kDirection) return EmitOptionEnd(out, builder);
    if (!fresh) return ExpressionPtr(nullptr);
    Builder look = builder->Inner(builder->env());
    look.Emit(SourceOf(plan::VERTEX, value, look));
    const std::string name = builder->FreshName('p');
    builder->Emit(ScopeOf(plan::ScopeExit::FIRST, name, plan::Project::LEAVE_ABSENT, look.Take()));
    const Value id = IdOf(*value);
    EmitMust(CallOf("present", {Named(name)}),
             "Vertex id could not be resolved from mergeE: " +
                 (id.kind() == ValueKind::kString ? id.AsString() : ConstantText(id)),
             builder);
    return Named(name);
  }

  const ValueMap& search() const { return search_; }
  // mergeE(): what is looked for is stored under this name; empty: it is search().
  const std::string& stored() const { return stored_; }

 private:
  Status ReadOptions() {
    for (const Modulator& option : step_.options) {
      const std::string& when = option.args[0].name;
      const Modulator** place = when == "onCreate"  ? &on_create_
                                : when == "onMatch" ? &on_match_
                                : when == "outV"    ? &out_
                                                    : &in_;
      if (step_.name() == "mergeV" && (place == &out_ || place == &in_)) {
        return StepError("WRONG_ARGUMENTS", option.args[0].span, "option",
                         "Option " + when +
                             " for Merge is not supported: mergeV() has onCreate "
                             "and onMatch");
      }
      if (option.args.size() > 2 && (option.args[2].name != "single" || step_.name() == "mergeE")) {
        return NotThereYet(option.args[2].span, "option",
                           "a property has one value yet; Cardinality." + option.args[2].name +
                               " is not there yet in option()");
      }
      *place = &option;  // the last one counts
    }
    return OkStatus();
  }

  bool AtSeed() const { return builder_->at_start() && !builder_->is_child(); }

  plan::ElementKind Kind() const { return step_.name() == "mergeV" ? plan::VERTEX : plan::EDGE; }

  Status StoreSearch(Chain child) {
    depends_ = true;
    stored_ = EmitStoredMap(std::move(child), std::string(step_.name()) + "()", builder_);
    EmitMapCheck(Kind(), stored_, builder_);
    return OkStatus();
  }

  struct Maps {
    std::string searched, more;
  };
  // What is looked for and what onCreate says, stored.
  StatusOr<Maps> StoreMaps(Builder* added) {
    Maps maps;
    maps.searched = stored_;
    if (stored_.empty()) {
      ASSIGN_OR_RETURN(maps.searched, StoreConstant(search_, added));
    }
    if (on_create_ == nullptr) return maps;
    const Bound& argument = on_create_->args[1];
    ASSIGN_OR_RETURN(const std::optional<ValueMap> map,
                     MapOfArgument(argument, *on_create_->call, 1, MergeUse::kFind));
    if (map) {
      ASSIGN_OR_RETURN(maps.more, StoreConstant(*map, added));
    } else {
      ASSIGN_OR_RETURN(Chain child, added->Child(argument));
      maps.more = EmitStoredMap(std::move(child), "option(onCreate)", added);
      EmitMapCheck(Kind(), maps.more, added);
    }
    return maps;
  }

  static StatusOr<std::string> StoreConstant(const ValueMap& map, Builder* builder) {
    ASSIGN_OR_RETURN(Value value, Value::Map(map));
    const std::string name = builder->FreshName('m');
    builder->Emit(Project{Constant(std::move(value)), name, plan::Project::DROP_ROW});
    return name;
  }

  // `place`: among the call's arguments. nullopt: the traversal gives a map that depends.
  StatusOr<std::optional<ValueMap>> MapOfArgument(const Bound& argument, const parser::Call& call,
                                                  size_t place, MergeUse use) {
    ValueMap map;
    if (argument.IsTraversal()) {
      ASSIGN_OR_RETURN(const Chain child, builder_->Child(argument));
      std::optional<ValueMap> constant = ConstantMapOf(child, AtSeed());
      if (!constant) return std::optional<ValueMap>();
      map = *std::move(constant);
    } else {
      map = MergeMapOf(argument.value);
    }
    RETURN_IF_ERROR(CheckDirections(map, call.arguments[place], argument));
    RETURN_IF_ERROR(CheckMergeMap(map, use, step_.name(), argument.span));
    return std::optional<ValueMap>(std::move(map));
  }

  // A Direction as a value stands for a Merge; where none is written it is no vertex.
  Status CheckDirections(const ValueMap& map, const parser::Argument& written,
                         const Bound& argument) const {
    size_t merges = 0;
    for (const parser::Argument& item : written.items) merges += item.qualifier == "Merge";
    for (const auto& [key, value] : map) {
      if (value.kind() != ValueKind::kDirection || merges-- > 0) continue;
      return StepError("WRONG_ARGUMENTS", argument.span, step_.name(),
                       "a Direction is no vertex and no id; Merge.outV and Merge.inV stand for "
                       "what their options give");
    }
    return OkStatus();
  }

  StatusOr<ExpressionPtr> EmitOptionEnd(bool out, Builder* builder) {
    const std::string token = out ? "outV" : "inV";
    const Modulator* option = out ? out_ : in_;
    if (option == nullptr) {
      return StepError(
          "WRONG_ARGUMENTS", step_.span(), step_.name(),
          "option(" + token + ") must be specified if it is used for " + (out ? "OUT" : "IN"));
    }
    const Bound& argument = option->args[1];
    Chain child;
    std::optional<ValueMap> map;
    if (argument.IsTraversal()) {
      ASSIGN_OR_RETURN(child, builder->Child(argument));
      map = ConstantMapOf(child, AtSeed());
    } else {
      map = MergeMapOf(argument.value);
    }
    const std::string name = builder->FreshName('p');
    const std::string unresolved = "Could not resolve vertex for option(" + token + ")";
    if (map) {
      RETURN_IF_ERROR(CheckMergeMap(*map, MergeUse::kFind, "mergeV", argument.span));
      Builder look = builder->Inner(builder->env());
      EmitVertices(*map, &look);
      child = look.Take();
    }
    builder->Emit(
        ScopeOf(plan::ScopeExit::FIRST, name, plan::Project::LEAVE_ABSENT, std::move(child)));
    EmitMust(CallOf("present", {Named(name)}), unresolved, builder);
    Require(Named(name), "v", "option(" + token + ")", builder);
    return Named(name);
  }

  const StepCall& step_;
  Builder* const builder_;
  const Modulator* on_create_ = nullptr;
  const Modulator* on_match_ = nullptr;
  const Modulator* out_ = nullptr;
  const Modulator* in_ = nullptr;
  ValueMap search_, create_;
  bool depends_ = false;  // what an element that is added has, on the traverser
  std::string stored_;    // under this name, what is looked for; empty: search_
};

// Where an edge that is looked for begins or ends: stored, or an id of the map; or anywhere.
struct SoughtEnd {
  ExpressionPtr stored;
  const Value* id = nullptr;

  bool anywhere() const { return stored == nullptr && id == nullptr; }

  void EmitVertex(Builder* builder) const {
    if (stored != nullptr) {
      builder->Emit(Project{stored, "", plan::Project::DROP_ROW});
    } else {
      builder->Emit(SourceOf(plan::VERTEX, id, *builder));
    }
  }

  // Keeps the edges whose end it is.
  Status EmitTest(plan::EdgeEnd::End end, Builder* builder) const {
    if (anywhere()) return OkStatus();
    Builder test = builder->Inner(builder->env());
    test.Emit(EdgeEnd{end});
    if (stored != nullptr) {
      test.Emit(Filter{CallOf("eq", {Current(), stored})});
    } else {
      ASSIGN_OR_RETURN(Value ids, Value::List({IdOf(*id)}));
      test.Emit(Filter{CallOf("has_id", {Current(), Constant(std::move(ids))})});
    }
    builder->Emit(ScopeOf(plan::ScopeExit::EXISTS, "", plan::Project::DROP_ROW, test.Take()));
    return OkStatus();
  }
};

Status EmitEdges(const ValueMap& map, const SoughtEnd& out, const SoughtEnd& in, Builder* builder) {
  const Value* id = FindKey(map, kMergeId);
  const Value* label = FindKey(map, kMergeLabel);
  if (id != nullptr || (out.anywhere() && in.anywhere())) {
    builder->Emit(SourceOf(plan::EDGE, id, *builder));
    EmitLabelFilter(map, builder);
    RETURN_IF_ERROR(out.EmitTest(plan::EdgeEnd::OUT_VERTEX, builder));
    RETURN_IF_ERROR(in.EmitTest(plan::EdgeEnd::IN_VERTEX, builder));
  } else {
    Expand expand;
    expand.to = plan::Expand::INCIDENT;
    expand.direction = out.anywhere() ? plan::IN : plan::OUT;
    if (label != nullptr) expand.labels.push_back(label->AsString());
    (out.anywhere() ? in : out).EmitVertex(builder);
    builder->Emit(std::move(expand));
    if (!out.anywhere()) RETURN_IF_ERROR(in.EmitTest(plan::EdgeEnd::IN_VERTEX, builder));
  }
  EmitPropertyFilters(map, builder);
  return OkStatus();
}

StatusOr<SoughtEnd> SoughtEndOf(Direction direction, MergeStep* merge, Builder* builder) {
  SoughtEnd end;
  ASSIGN_OR_RETURN(end.stored, merge->EmitEnd(merge->search(), direction, false, builder));
  if (end.stored == nullptr) end.id = FindKey(merge->search(), Value::Of(direction));
  return end;
}

}  // namespace

Status BuildMergeVertex(const StepCall& step, Builder* builder) {
  MergeStep merge(step, builder);
  RETURN_IF_ERROR(merge.Read());
  Builder found = builder->Inner(builder->env());
  merge.EmitFound(&found);
  RETURN_IF_ERROR(merge.EmitOnMatch(&found));
  Builder added = builder->Inner(builder->env());
  RETURN_IF_ERROR(merge.EmitAdded(&added));
  merge.EmitFirstOf(found.Take(), added.Take());
  return OkStatus();
}

Status BuildMergeEdge(const StepCall& step, Builder* builder) {
  MergeStep merge(step, builder);
  RETURN_IF_ERROR(merge.Read());
  StoredEnds ends;
  SoughtEnd out, in;
  if (merge.stored().empty()) {
    ASSIGN_OR_RETURN(out, SoughtEndOf(Direction::kOut, &merge, builder));
    ASSIGN_OR_RETURN(in, SoughtEndOf(Direction::kIn, &merge, builder));
    ends = {out.stored, in.stored};
  }
  Builder found = builder->Inner(builder->env());
  if (merge.stored().empty()) {
    RETURN_IF_ERROR(EmitEdges(merge.search(), out, in, &found));
  } else {
    EmitEdgesOf(merge.stored(), EmitStoredEnds(merge.stored(), &found), &found);
  }
  RETURN_IF_ERROR(merge.EmitOnMatch(&found));
  Builder added = builder->Inner(builder->env());
  RETURN_IF_ERROR(merge.EmitAddedEdge(ends, &added));
  merge.EmitFirstOf(found.Take(), added.Take());
  return OkStatus();
}

}  // namespace koios::planner
