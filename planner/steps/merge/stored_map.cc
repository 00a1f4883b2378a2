#include "planner/steps/merge/stored_map.h"

#include "planner/steps/expressions/by.h"

namespace koios::planner {
namespace {

ExpressionPtr TokenKey(Token token) { return Constant(Value::Of(token)); }

ExpressionPtr EntryOf(const std::string& map, ExpressionPtr key) {
  return CallOf("map_get", {Named(map), std::move(key)});
}

ExpressionPtr IsToken(const ExpressionPtr& key) {
  return CallOf("or", {CallOf("eq", {key, TokenKey(Token::kId)}),
                       CallOf("eq", {key, TokenKey(Token::kLabel)})});
}

// Current is each key of the map in turn, also stored under the returned name.
std::string EmitKeys(const std::string& map, Builder* builder) {
  const std::string key = builder->FreshName('k');
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
  each.Emit(Filter{CallOf("not", {CallOf("and", std::move(musts))})});
  builder->Emit(ScopeOf(plan::ScopeExit::NONE, "", plan::Project::DROP_ROW, each.Take()));
}

ExpressionPtr MustOf(ExpressionPtr condition, std::string message) {
  return CallOf("must", {std::move(condition), StringConstant(std::move(message))});
}

void EmitNoOverride(const std::string& map, const std::string& more, Builder* builder) {
  Builder each = builder->Inner(builder->env());
  const std::string key = EmitKeys(more, &each);
  const ExpressionPtr searched = EntryOf(map, Named(key));
  EmitCheck({MustOf(CallOf("or", {CallOf("not", {CallOf("present", {searched})}),
                                  CallOf("eq", {searched, EntryOf(more, Named(key))})}),
                    "option(onCreate) cannot override values from merge() argument")},
            std::move(each), builder);
}

}  // namespace

void EmitMust(ExpressionPtr condition, std::string message, Builder* builder) {
  builder->Emit(Filter{MustOf(std::move(condition), std::move(message))});
}

std::string EmitStoredMap(Chain child, const std::string& reader, Builder* builder) {
  const std::string name = builder->FreshName('m');
  builder->Emit(
      ScopeOf(plan::ScopeExit::FIRST, name, plan::Project::LEAVE_ABSENT, std::move(child)));
  EmitMust(CallOf("present", {Named(name)}),
           "The provided traverser does not map to a value: " + reader, builder);
  Require(Named(name), "m", reader, builder);
  return name;
}

void EmitVertexMapCheck(const std::string& map, Builder* builder) {
  Builder each = builder->Inner(builder->env());
  const ExpressionPtr key = Named(EmitKeys(map, &each));
  EmitCheck({MustOf(CallOf("or", {CallOf("startingWith", {key, StringConstant("")}), IsToken(key)}),
                    "mergeV() and option(onCreate) args expect keys in Map to be either String or "
                    "[id, label]"),
             MustOf(CallOf("not", {CallOf("startingWith", {key, StringConstant("~")})}),
                    "Property key can not be a hidden key")},
            std::move(each), builder);
}

void EmitVerticesOf(const std::string& map, Builder* builder) {
  Source source;
  source.graph = builder->graph();
  builder->Emit(std::move(source));
  const std::string has = builder->FreshName('m');
  builder->Emit(Project{CallOf("element_map", {Current()}), has, plan::Project::DROP_ROW});
  Builder differs = builder->Inner(builder->env());
  const ExpressionPtr key = Named(EmitKeys(map, &differs));
  differs.Emit(Filter{CallOf("not", {CallOf("eq", {EntryOf(has, key), EntryOf(map, key)})})});
  builder->Emit(ScopeOf(plan::ScopeExit::NONE, "", plan::Project::DROP_ROW, differs.Take()));
}

void EmitVertexAddition(const std::string& map, const std::string& more, Builder* builder) {
  if (!more.empty()) EmitNoOverride(map, more, builder);
  const auto token = [&](Token wanted) {
    ExpressionPtr value = EntryOf(map, TokenKey(wanted));
    if (more.empty()) return value;
    return CallOf("first_of", {std::move(value), EntryOf(more, TokenKey(wanted))});
  };
  const std::string id = builder->FreshName('i');
  builder->Emit(Project{token(Token::kId), id, plan::Project::LEAVE_ABSENT});
  Mutate addition;
  addition.kind = Mutate::Kind::kAddVertex;
  addition.label = CallOf("first_of", {token(Token::kLabel), StringConstant("vertex")});
  Builder with_id = builder->Inner(builder->env());
  with_id.Emit(Filter{CallOf("present", {Named(id)})});
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

void EmitSetsOf(const std::string& map, bool tokens, Builder* builder) {
  const std::string element = builder->FreshName('m');
  const std::string value = builder->FreshName('v');
  builder->Emit(Project{Current(), element, plan::Project::DROP_ROW});
  Builder each = builder->Inner(builder->env());
  const ExpressionPtr key = Named(EmitKeys(map, &each));
  if (tokens) each.Emit(Filter{CallOf("not", {IsToken(key)})});
  each.Emit(Project{EntryOf(map, key), value, plan::Project::DROP_ROW});
  each.Emit(Project{Named(element), "", plan::Project::DROP_ROW});
  Mutate set;
  set.kind = Mutate::Kind::kSetProperty;
  set.properties.emplace_back(key, Named(value));
  each.Emit(std::move(set));
  EmitEffect(std::move(each), builder);
}

}  // namespace koios::planner
