#include "planner/value_type.h"

#include "planner/op_table.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

ValueType CallType(const Expression& call, const TypeEnv& env) {
  if (call.function->type_of == nullptr) return call.function->type;
  std::vector<plan::KnownArgument> args;
  for (const ExpressionPtr& arg : call.args) {
    const bool constant = arg->kind == Expression::Kind::kConstant;
    args.push_back({TypeOf(*arg, env), constant ? &arg->constant.Look() : nullptr});
  }
  return call.function->type_of(args);
}

// More values than this are not remembered: what one step has stored for itself is forgotten, so
// that a text of thousands of steps is planned in time that grows as its length does.
constexpr size_t kMostNames = 512;

void Forget(TypeEnv* env) {
  if (env->names.size() < kMostNames) return;
  std::erase_if(env->names, [](const auto& entry) { return !IsOfHistory(entry.first); });
}

void Store(const std::string& name, ValueType type, bool always, TypeEnv* env) {
  if (name.empty()) {
    env->current = type;
  } else {
    const bool many = env->names.contains(name);
    env->names[name] = {type, always, many};
  }
}

ValueType UnfoldedType(ValueType type) {
  switch (type) {
    case ValueType::kMap:
      return ValueType::kEntry;
    case ValueType::kList:
    case ValueType::kBag:
    case ValueType::kAny:
    case ValueType::kMember:
      return ValueType::kMember;
    case ValueType::kVertex:
    case ValueType::kEdge:
    case ValueType::kProperty:
    case ValueType::kScalar:
    case ValueType::kEntry:
      return type;
  }
  return ValueType::kAny;
}

void AdvanceScope(const Scope& scope, TypeEnv* env) {
  TypeEnv bodies;
  for (size_t i = 0; i < scope.bodies.size(); ++i) {
    TypeEnv body = *env;
    Advance(scope.bodies[i], &body);
    bodies = i == 0 ? std::move(body) : JoinEnvs(bodies, body);
  }
  const ValueType result = bodies.current;
  if (scope.keeps_labels && scope.policy == plan::ScopeExit::ALL) env->names = bodies.names;
  if (scope.keeps_labels && scope.policy == plan::ScopeExit::OPTIONAL) {
    env->names = JoinEnvs(*env, bodies).names;
  }
  switch (scope.policy) {
    case plan::ScopeExit::FIRST:
      Store(scope.target, result, scope.absent != plan::Project::LEAVE_ABSENT, env);
      return;
    case plan::ScopeExit::EXISTS_FLAG:
      Store(scope.target, ValueType::kScalar, true, env);
      return;
    case plan::ScopeExit::ALL:
      env->current = result;
      return;
    case plan::ScopeExit::OPTIONAL:
      env->current = JoinTypes(env->current, result);
      return;
    default:  // EXISTS, NONE, EFFECT: the row as it was
      return;
  }
}

void AdvanceReduce(const Reduce& reduce, TypeEnv* env) {
  env->names.clear();
  env->current = reduce.function == plan::Reduce::FOLD        ? ValueType::kList
                 : reduce.function == plan::Reduce::FOLD_WITH ? ValueType::kAny
                                                              : ValueType::kScalar;
}

void AdvanceGroup(const Group& group, TypeEnv* env) {
  if (!group.side_effect.empty()) return;
  const TypeEnv::Stored key = {group.rows ? env->names[group.key].type : ValueType::kAny, true,
                               false};
  env->names.clear();
  if (group.rows) env->names[group.key] = key;
  env->current = !group.rows                       ? ValueType::kMap
                 : group.kind == plan::Group::LIST ? ValueType::kList
                                                   : ValueType::kAny;
}

ValueType InjectedType(const Inject& inject) {
  if (inject.values.empty()) return ValueType::kScalar;
  ValueType type = TypeOfKind(inject.values[0].kind());
  for (const PlanValue& value : inject.values) type = JoinTypes(type, TypeOfKind(value.kind()));
  return type;
}

void AdvanceSplit(const Split& split, TypeEnv* env) {
  TypeEnv joined;
  for (size_t i = 0; i < split.branches.size(); ++i) {
    TypeEnv branch = *env;
    Advance(split.branches[i], &branch);
    joined = i == 0 ? std::move(branch) : JoinEnvs(joined, branch);
  }
  *env = std::move(joined);
}

void AdvanceLoop(const Loop& loop, TypeEnv* env) {
  TypeEnv start = AtLoopStart(*env, loop);
  Advance(loop.parts[0], &start);
  TypeEnv behind = start;
  Advance(loop.parts[1], &behind);
  Advance(loop.parts[2], &behind);
  const bool leaves_before = loop.before.until != nullptr || loop.before.emit != nullptr;
  const bool leaves_behind = loop.behind.until != nullptr || loop.behind.emit != nullptr;
  // What leaves before the body has entered just now or has run the body.
  if (leaves_before) start.current = JoinTypes(env->current, behind.current);
  *env = !leaves_before ? behind : leaves_behind ? JoinEnvs(start, behind) : start;
}

}  // namespace

TypeEnv AtLoopStart(const TypeEnv& before, const Loop& loop) {
  TypeEnv start = before;
  start.current = ValueType::kAny;
  std::set<std::string> written;
  bool forgets = false;
  for (const Chain& part : loop.parts) {
    CollectStores(part, &written);
    forgets = forgets || ForgetsNames(part);
  }
  for (auto& [name, stored] : start.names) stored.always = stored.always && !forgets;
  for (const std::string& name : written) {
    start.names[name] = {ValueType::kAny, start.names[name].always, true};
  }
  return start;
}

bool IsAlwaysThere(const Expression& expression, const TypeEnv& env) {
  switch (expression.kind) {
    case Expression::Kind::kConstant:
    case Expression::Kind::kCurrent:
      return true;
    case Expression::Kind::kNamed: {
      const auto stored = env.names.find(expression.name);
      return stored != env.names.end() && stored->second.always;
    }
    case Expression::Kind::kCall: {
      const plan::FunctionTraits& row = *expression.function;
      if (row.Has(plan::kAlwaysThere)) return true;
      if (row.Has(plan::kThereWithFirst)) return IsAlwaysThere(*expression.args.front(), env);
      return row.Has(plan::kThereWithLast) && IsAlwaysThere(*expression.args.back(), env);
    }
  }
  return false;
}

ValueType TypeOfKind(ValueKind kind) {
  switch (kind) {
    case ValueKind::kVertex:
      return ValueType::kVertex;
    case ValueKind::kEdge:
      return ValueType::kEdge;
    case ValueKind::kVertexProperty:
    case ValueKind::kProperty:
      return ValueType::kProperty;
    case ValueKind::kList:
    case ValueKind::kSet:
    case ValueKind::kPath:
      return ValueType::kList;
    case ValueKind::kMap:
      return ValueType::kMap;
    case ValueKind::kElement:
      return ValueType::kAny;
    default:
      return ValueType::kScalar;
  }
}

ValueType TypeOf(const Expression& expression, const TypeEnv& env) {
  switch (expression.kind) {
    case Expression::Kind::kConstant:
      return TypeOfKind(expression.constant.kind());
    case Expression::Kind::kCurrent:
      return env.current;
    case Expression::Kind::kNamed: {
      auto found = env.names.find(expression.name);
      return found == env.names.end() ? ValueType::kAny : found->second.type;
    }
    case Expression::Kind::kCall:
      return CallType(expression, env);
  }
  return ValueType::kAny;
}

ValueType JoinTypes(ValueType a, ValueType b) {
  if (a == b) return a;
  const auto may_be_entry = [](ValueType type) {
    return type == ValueType::kEntry || type == ValueType::kMember;
  };
  return may_be_entry(a) || may_be_entry(b) ? ValueType::kMember : ValueType::kAny;
}

TypeEnv JoinEnvs(const TypeEnv& a, const TypeEnv& b) {
  TypeEnv joined;
  joined.current = JoinTypes(a.current, b.current);
  joined.names = a.names;
  for (auto& [name, stored] : joined.names) {
    auto other = b.names.find(name);
    if (other == b.names.end()) {
      stored.always = false;
    } else {
      stored.type = JoinTypes(stored.type, other->second.type);
      stored.always = stored.always && other->second.always;
      stored.many = stored.many || other->second.many;
    }
  }
  for (const auto& [name, stored] : b.names) {
    joined.names.insert({name, {stored.type, false, stored.many}});
  }
  return joined;
}

void Advance(const Op& op, TypeEnv* env) {
  Forget(env);
  std::visit(Overloaded{
                 [env](const Source& source) {
                   const bool scalar = source.counted || !source.value_key.empty();
                   env->current = scalar                           ? ValueType::kScalar
                                  : source.element == plan::VERTEX ? ValueType::kVertex
                                                                   : ValueType::kEdge;
                 },
                 [env](const Lookup& lookup) {
                   env->current =
                       lookup.element == plan::VERTEX ? ValueType::kVertex : ValueType::kEdge;
                 },
                 [env](const Inject& inject) { env->current = InjectedType(inject); },
                 [env](const Expand& expand) {
                   env->current = expand.to == plan::Expand::INCIDENT ? ValueType::kEdge
                                  : expand.to == plan::Expand::DEGREE ? ValueType::kScalar
                                                                      : ValueType::kVertex;
                 },
                 [env](const EdgeEnd&) { env->current = ValueType::kVertex; },
                 [env](const Fetch& fetch) {
                   env->current = fetch.as_properties ? ValueType::kProperty : ValueType::kScalar;
                 },
                 [](const Filter&) {},
                 [env](const Project& project) {
                   Store(project.target, TypeOf(*project.value, *env),
                         project.absent != plan::Project::LEAVE_ABSENT, env);
                 },
                 [env](const Unfold&) { env->current = UnfoldedType(env->current); },
                 [](const Merge&) {},
                 [](const Limit&) {},
                 [](const TimeLimit&) {},
                 [](const Tail&) {},
                 [](const Sample&) {},
                 [](const Order&) {},
                 [env](const Barrier& barrier) {
                   if (barrier.sacks) Store(barrier.sacks->name, ValueType::kAny, true, env);
                 },
                 [](const Coin&) {},
                 [](const Dedup&) {},
                 [env](const Reduce& reduce) { AdvanceReduce(reduce, env); },
                 [env](const Group& group) { AdvanceGroup(group, env); },
                 [](const Aggregate&) {},
                 [env](const Cap& cap) {
                   env->names.clear();
                   env->current = cap.rows     ? cap.is_map ? ValueType::kEntry : ValueType::kMember
                                  : cap.is_map ? ValueType::kMap
                                  : cap.began  ? ValueType::kAny
                                               : ValueType::kBag;
                 },
                 [env](const Mutate& mutate) {
                   if (mutate.kind == Mutate::Kind::kAddVertex) env->current = ValueType::kVertex;
                   if (mutate.kind == Mutate::Kind::kAddEdge) env->current = ValueType::kEdge;
                 },
                 [env](const Scope& scope) { AdvanceScope(scope, env); },
                 [env](const Split& split) { AdvanceSplit(split, env); },
                 [env](const Loop& loop) { AdvanceLoop(loop, env); },
                 [env](const Reach& reach) {
                   if (reach.result == plan::Reach::COUNT) env->current = ValueType::kVertex;
                   if (reach.result == plan::Reach::NUMBER) env->current = ValueType::kScalar;
                   if (reach.result == plan::Reach::FLAG) {
                     Store(reach.target, ValueType::kScalar, true, env);
                   }
                 },
                 [env](const ShortestPath& path) {
                   env->current = path.gives_path ? ValueType::kList : ValueType::kVertex;
                 },
             },
             op.body);
}

void Advance(const Chain& chain, TypeEnv* env) {
  for (const Op& op : chain.ops) Advance(op, env);
}

bool IsUnknown(ValueType type) { return type == ValueType::kAny || type == ValueType::kMember; }

bool MayBeElement(ValueType type) {
  return IsUnknown(type) || type == ValueType::kVertex || type == ValueType::kEdge;
}

}  // namespace koios::planner
