#include "planner/steps/merge/stored_map.h"

#include "planner/steps/expressions/by.h"

namespace koios::planner {
namespace {

const Direction kEnds[] = {Direction::kOut, Direction::kIn};

ExpressionPtr TokenKey(Token token) { return Constant(Value::Of(token)); }
ExpressionPtr EndKey(Direction direction) { return Constant(Value::Of(direction)); }

ExpressionPtr EntryOf(const std::string& map, ExpressionPtr key) {
  return CallOf("map_get", {Named(map), std::move(key)});
}

ExpressionPtr IsToken(const ExpressionPtr& key) {
  return CallOf("or", {CallOf("eq", {key, TokenKey(Token::kId)}),
                       CallOf("eq", {key, TokenKey(Token::kLabel)})});
}

ExpressionPtr IsEnd(const ExpressionPtr& key) {
  return CallOf("or", {CallOf("eq", {key, EndKey(Direction::kOut)}),
                       CallOf("eq", {key, EndKey(Direction::kIn)})});
}

ExpressionPtr IsThere(ExpressionPtr value) { return CallOf("present", {std::move(value)}); }
ExpressionPtr IsNot(ExpressionPtr value) { return CallOf("not", {std::move(value)}); }

// Current is each key of the map in turn, also stored under the returned name.
std::string EmitKeys(const std::string& map, Builder* builder) {
  std::string key = builder->FreshName('k');
  builder->Emit(Project{CallOf("map_keys", {Named(map)}), "", plan::Project::DROP_ROW});
  builder->Emit(Unfold{});
  builder->Emit(Project{Current(), key, plan::Project::DROP_ROW});
  return key;
}

void EmitEffect(Builder each, Builder* builder) {
  builder->Emit(ScopeOf(plan::ScopeExit::EFFECT, "", plan::Project::DROP_ROW, each.Take()));
}

// Rows with a key for which a condition does not hold are an error: the others pass, as nothing is
// left of the keys.
void EmitCheck(std::vector<ExpressionPtr> musts, Builder each, Builder* builder) {
  each.Emit(Filter{IsNot(CallOf("and", std::move(musts)))});
  builder->Emit(ScopeOf(plan::ScopeExit::NONE, "", plan::Project::DROP_ROW, each.Take()));
}

ExpressionPtr MustOf(ExpressionPtr condition, std::string message) {
  return CallOf("must", {std::move(condition), StringConstant(std::move(message))});
}

void EmitNoOverride(const std::string& map, const std::string& more, Builder* builder) {
  Builder each = builder->Inner(builder->env());
  const std::string key = EmitKeys(more, &each);
  const ExpressionPtr searched = EntryOf(map, Named(key));
  EmitCheck({MustOf(CallOf("or", {IsNot(IsThere(searched)),
                                  CallOf("eq", {searched, EntryOf(more, Named(key))})}),
                    "option(onCreate) cannot override values from merge() argument")},
            std::move(each), builder);
}

}  // namespace

void EmitMust(ExpressionPtr condition, std::string message, Builder* builder) {
  builder->Emit(Filter{MustOf(std::move(condition), std::move(message))});
}

std::string EmitStoredMap(Chain child, const std::string& reader, Builder* builder) {
  std::string name = builder->FreshName('m');
  builder->Emit(
      ScopeOf(plan::ScopeExit::FIRST, name, plan::Project::LEAVE_ABSENT, std::move(child)));
  EmitMust(IsThere(Named(name)), "The provided traverser does not map to a value: " + reader,
           builder);
  Require(Named(name), "m", reader, builder);
  return name;
}

void EmitMapCheck(plan::ElementKind element, const std::string& map, Builder* builder) {
  Builder each = builder->Inner(builder->env());
  const ExpressionPtr key = Named(EmitKeys(map, &each));
  std::vector<ExpressionPtr> known = {CallOf("startingWith", {key, StringConstant("")}),
                                      IsToken(key)};
  const bool edge = element == plan::EDGE;
  if (edge) known.push_back(IsEnd(key));
  EmitCheck({MustOf(CallOf("or", std::move(known)),
                    std::string(edge ? "mergeE()" : "mergeV()") +
                        " and option(onCreate) args expect keys in Map to be either String or " +
                        (edge ? "[id, label, IN, OUT]" : "[id, label]")),
             MustOf(IsNot(CallOf("startingWith", {key, StringConstant("~")})),
                    "Property key can not be a hidden key")},
            std::move(each), builder);
}

namespace {

// Current is an element: whether it has what the map says, its ends apart.
void EmitComparison(const std::string& map, Builder* builder) {
  const std::string has = builder->FreshName('m');
  builder->Emit(Project{CallOf("element_map", {Current()}), has, plan::Project::DROP_ROW});
  Builder differs = builder->Inner(builder->env());
  const ExpressionPtr key = Named(EmitKeys(map, &differs));
  differs.Emit(Filter{IsNot(IsEnd(key))});
  differs.Emit(Filter{IsNot(CallOf("eq", {EntryOf(has, key), EntryOf(map, key)}))});
  builder->Emit(ScopeOf(plan::ScopeExit::NONE, "", plan::Project::DROP_ROW, differs.Take()));
}

void EmitLookup(plan::ElementKind element, const ExpressionPtr& id_or_element, Builder* builder) {
  builder->Emit(Project{CallOf("with_id", {id_or_element}), "", plan::Project::DROP_ROW});
  builder->Emit(Lookup{element});
}

// Labels are compared before anything else is read.
void EmitAll(plan::ElementKind element, const std::string& map, Builder* builder) {
  Source source;
  source.element = element;
  source.graph = builder->graph();
  builder->Emit(std::move(source));
  const ExpressionPtr label = EntryOf(map, TokenKey(Token::kLabel));
  builder->Emit(Filter{
      CallOf("or", {IsNot(IsThere(label)), CallOf("eq", {CallOf("label", {Current()}), label})})});
}

// Of branches in which rows go on, the first whose test holds.
class Cases {
 public:
  explicit Cases(Builder* builder) : builder_(builder) {}

  Builder Branch() const { return builder_->Inner(builder_->env()); }
  void Add(ExpressionPtr test, Builder branch) {
    split_.tests.push_back(std::move(test));
    split_.branches.push_back(branch.Take());
  }
  void Else(Builder branch) {
    Add(Constant(Value::Bool(true)), std::move(branch));
    builder_->Emit(std::move(split_));
  }

 private:
  Builder* const builder_;
  Split split_;
};

// What both maps say of an element that is added, whose kind and ends are in `addition`; behind it
// the element is current.
void EmitAddition(Mutate addition, const std::string& default_label, const std::string& map,
                  const std::string& more, Builder* builder) {
  const auto token = [&](Token wanted) {
    ExpressionPtr value = EntryOf(map, TokenKey(wanted));
    if (more.empty()) return value;
    return CallOf("first_of", {std::move(value), EntryOf(more, TokenKey(wanted))});
  };
  const std::string id = builder->FreshName('i');
  builder->Emit(Project{token(Token::kId), id, plan::Project::LEAVE_ABSENT});
  addition.label = CallOf("first_of", {token(Token::kLabel), StringConstant(default_label)});
  Builder with_id = builder->Inner(builder->env());
  with_id.Emit(Filter{IsThere(Named(id))});
  Builder without = builder->Inner(builder->env());
  without.Emit(addition);
  addition.id = Named(id);
  with_id.Emit(std::move(addition));
  Scope scope;
  scope.policy = plan::ScopeExit::ALL;
  scope.bodies.push_back(with_id.Take());
  scope.bodies.push_back(without.Take());
  builder->Emit(std::move(scope));
  EmitSetsOf(map, true, builder);
  if (!more.empty()) EmitSetsOf(more, true, builder);
}

// Keeps edges that end at the vertex stored there, when one is.
void EmitEndTest(plan::EdgeEnd::End end, const ExpressionPtr& vertex, Builder* builder) {
  Builder test = builder->Inner(builder->env());
  test.Emit(EdgeEnd{end});
  test.Emit(Filter{CallOf("eq", {Current(), vertex})});
  builder->Emit(ScopeOf(plan::ScopeExit::EXISTS, "", plan::Project::DROP_ROW, test.Take()));
}

void EmitEndTestIfThere(plan::EdgeEnd::End end, const ExpressionPtr& vertex, Builder* builder) {
  Cases cases(builder);
  Builder test = cases.Branch();
  EmitEndTest(end, vertex, &test);
  cases.Add(IsThere(vertex), std::move(test));
  cases.Else(cases.Branch());
}

void EmitIncident(plan::Direction direction, const ExpressionPtr& vertex, Builder* builder) {
  builder->Emit(Project{vertex, "", plan::Project::DROP_ROW});
  Expand expand;
  expand.direction = direction;
  expand.to = plan::Expand::INCIDENT;
  builder->Emit(std::move(expand));
}

// The vertex that a value of the map stands for, stored; absent: there is none.
ExpressionPtr EmitStoredVertex(const ExpressionPtr& id_or_vertex, Builder* builder) {
  Builder look = builder->Inner(builder->env());
  EmitLookup(plan::VERTEX, id_or_vertex, &look);
  const std::string name = builder->FreshName('p');
  builder->Emit(ScopeOf(plan::ScopeExit::FIRST, name, plan::Project::LEAVE_ABSENT, look.Take()));
  return Named(name);
}

}  // namespace

void EmitVerticesOf(const std::string& map, Builder* builder) {
  const ExpressionPtr id = EntryOf(map, TokenKey(Token::kId));
  Cases cases(builder);
  Builder one = cases.Branch();
  EmitLookup(plan::VERTEX, id, &one);
  EmitComparison(map, &one);
  cases.Add(IsThere(id), std::move(one));
  Builder all = cases.Branch();
  EmitAll(plan::VERTEX, map, &all);
  EmitComparison(map, &all);
  cases.Else(std::move(all));
}

void EmitVertexAddition(const std::string& map, const std::string& more, Builder* builder) {
  if (!more.empty()) EmitNoOverride(map, more, builder);
  Mutate addition;
  addition.kind = Mutate::Kind::kAddVertex;
  EmitAddition(std::move(addition), "vertex", map, more, builder);
}

StoredEnds EmitStoredEnds(const std::string& map, Builder* builder) {
  StoredEnds ends;
  ends.out = EmitStoredVertex(EntryOf(map, EndKey(Direction::kOut)), builder);
  ends.in = EmitStoredVertex(EntryOf(map, EndKey(Direction::kIn)), builder);
  return ends;
}

void EmitEdgesOf(const std::string& map, const StoredEnds& ends, Builder* builder) {
  // An end that the map names and that there is not has no edges.
  for (const Direction direction : kEnds) {
    const ExpressionPtr& end = direction == Direction::kOut ? ends.out : ends.in;
    builder->Emit(
        Filter{CallOf("or", {IsThere(end), IsNot(IsThere(EntryOf(map, EndKey(direction))))})});
  }
  const ExpressionPtr id = EntryOf(map, TokenKey(Token::kId));
  Cases cases(builder);
  Builder one = cases.Branch();
  EmitLookup(plan::EDGE, id, &one);
  EmitEndTestIfThere(plan::EdgeEnd::OUT_VERTEX, ends.out, &one);
  EmitEndTestIfThere(plan::EdgeEnd::IN_VERTEX, ends.in, &one);
  EmitComparison(map, &one);
  cases.Add(IsThere(id), std::move(one));
  Builder both = cases.Branch();
  EmitIncident(plan::OUT, ends.out, &both);
  EmitEndTest(plan::EdgeEnd::IN_VERTEX, ends.in, &both);
  EmitComparison(map, &both);
  cases.Add(CallOf("and", {IsThere(ends.out), IsThere(ends.in)}), std::move(both));
  Builder out = cases.Branch();
  EmitIncident(plan::OUT, ends.out, &out);
  EmitComparison(map, &out);
  cases.Add(IsThere(ends.out), std::move(out));
  Builder in = cases.Branch();
  EmitIncident(plan::IN, ends.in, &in);
  EmitComparison(map, &in);
  cases.Add(IsThere(ends.in), std::move(in));
  Builder all = cases.Branch();
  EmitAll(plan::EDGE, map, &all);
  EmitComparison(map, &all);
  cases.Else(std::move(all));
}

void EmitEdgeAddition(const std::string& map, const std::string& more, StoredEnds ends,
                      Builder* builder) {
  if (!more.empty()) EmitNoOverride(map, more, builder);
  for (const Direction direction : kEnds) {
    const bool out = direction == Direction::kOut;
    ExpressionPtr& end = out ? ends.out : ends.in;
    if (end != nullptr) continue;
    ExpressionPtr named = EntryOf(map, EndKey(direction));
    if (!more.empty()) {
      named = CallOf("first_of", {std::move(named), EntryOf(more, EndKey(direction))});
    }
    EmitMust(IsThere(named),
             std::string(out ? "Out" : "In") +
                 " Vertex not specified in onCreate - edge cannot be created",
             builder);
    end = EmitStoredVertex(named, builder);
    EmitMust(IsThere(end), "Vertex id could not be resolved from mergeE", builder);
  }
  Mutate addition;
  addition.kind = Mutate::Kind::kAddEdge;
  addition.out = ends.out;
  addition.in = ends.in;
  EmitAddition(std::move(addition), "edge", map, more, builder);
}

void EmitSetsOf(const std::string& map, bool tokens, Builder* builder) {
  const std::string element = builder->FreshName('m');
  const std::string value = builder->FreshName('v');
  builder->Emit(Project{Current(), element, plan::Project::DROP_ROW});
  Builder each = builder->Inner(builder->env());
  const ExpressionPtr key = Named(EmitKeys(map, &each));
  if (tokens) {
    each.Emit(Filter{IsNot(CallOf("or", {IsToken(key), IsEnd(key)}))});
  }
  each.Emit(Project{EntryOf(map, key), value, plan::Project::DROP_ROW});
  each.Emit(Project{Named(element), "", plan::Project::DROP_ROW});
  Mutate set;
  set.kind = Mutate::Kind::kSetProperty;
  set.properties.emplace_back(key, Named(value));
  each.Emit(std::move(set));
  EmitEffect(std::move(each), builder);
}

}  // namespace koios::planner
