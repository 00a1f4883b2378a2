// group() and groupCount(), into a map or into a side-effect.
#include <optional>
#include <set>

#include "planner/op_table.h"
#include "planner/plan_error.h"
#include "planner/rules/simple_body.h"
#include "planner/steps/expressions/by.h"
#include "planner/steps/side_effects.h"
#include "planner/steps/steps.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

// A barrier() of the traversal itself divides nothing.
bool IsGroupBarrier(const Op& op) { return TraitsOf(op).holds && !As<Barrier>(op); }

// Wraps `body` so that each row gets its first result under a fresh name, absent when it has none.
std::string StoreFirst(Chain body, Builder* builder) {
  std::string name = builder->FreshName('v');
  builder->Emit(
      ScopeOf(plan::ScopeExit::FIRST, name, plan::Project::LEAVE_ABSENT, std::move(body)));
  return name;
}

// group().by(key).by(body that ends in a reducer): what stands before the reducer runs per row.
// False: the reducer needs all values of the group at once.
bool BuildReducedValue(Chain body, Group* group, Builder* builder) {
  const plan::Reduce::Function function = As<Reduce>(body.ops.back())->function;
  const bool whole = body.ops.size() == 1;
  const bool foldable = function == plan::Reduce::COUNT || function == plan::Reduce::SUM ||
                        function == plan::Reduce::MIN || function == plan::Reduce::MAX;
  switch (function) {
    case plan::Reduce::COUNT:  // the counts of the rows, added up
      group->kind = whole ? plan::Group::COUNT : plan::Group::SUM;
      break;
    case plan::Reduce::SUM:
      group->kind = plan::Group::SUM;
      break;
    case plan::Reduce::MIN:
      group->kind = plan::Group::MIN;
      break;
    case plan::Reduce::MAX:
      group->kind = plan::Group::MAX;
      break;
    case plan::Reduce::MEAN:
      group->kind = plan::Group::MEAN;
      break;
    case plan::Reduce::FOLD:
      group->kind = plan::Group::LIST;
      break;
    default:
      return false;
  }
  if (whole) return true;
  Chain rest = body;
  rest.ops.pop_back();
  const bool single = function != plan::Reduce::COUNT && SimpleValue(rest) != nullptr;
  if (!foldable && !single) return false;
  group->value = StoreFirst(single ? std::move(rest) : std::move(body), builder);
  return true;
}

bool SameSpan(const SourceSpan& a, const SourceSpan& b) {
  return a.line == b.line && a.column == b.column;
}

// Stored names that the chain reads before it stores them itself.
std::set<std::string> NamesReadBy(const Chain& chain) {
  std::set<std::string> read, written;
  for (const Op& op : chain.ops) {
    std::set<std::string> here, inside;
    CollectAllReads(op, &here);
    const std::vector<Chain>* children = ChildrenOf(op);
    for (size_t i = 0; children != nullptr && i < children->size(); ++i) {
      CollectStores((*children)[i], &inside);
    }
    for (const std::string& name : here) {
      // What the planner stores in a child it stores before it reads it there.
      const bool own = !IsLabel(name) && !GrowsInChild(name) && inside.contains(name);
      if (!own && !written.contains(name)) read.insert(name);
    }
    if (!StoredName(op).empty()) written.insert(StoredName(op));
    written.insert(inside.begin(), inside.end());
  }
  return read;
}

// The current value and stored ones in one map, as AppendGroupTail takes them apart.
Op PackedWith(const std::vector<std::string>& names, const StepCall& step) {
  std::vector<ExpressionPtr> pairs = {StringConstant(""), Current()};
  for (const std::string& name : names) {
    pairs.push_back(StringConstant(name));
    pairs.push_back(Named(name));
  }
  return Op{Project{CallOf("map_of", std::move(pairs)), "", plan::Project::DROP_ROW}, step.span(),
            step.text};
}

// What stands before the first barrier runs per row, the rest when the group is complete.
GroupTail BuildTail(Chain body, size_t barrier, const StepCall& step, Group* group,
                    Builder* builder) {
  // What the barrier's own by() modulators store is of the barrier.
  while (barrier > 0 && body.ops[barrier - 1].step == body.ops[barrier].step &&
         SameSpan(body.ops[barrier - 1].span, body.ops[barrier].span)) {
    --barrier;
  }
  GroupTail tail;
  const auto first = body.ops.begin() + static_cast<std::ptrdiff_t>(barrier);
  tail.rest.ops.assign(first, body.ops.end());
  body.ops.erase(first, body.ops.end());
  for (const std::string& name : NamesReadBy(tail.rest)) tail.carried.push_back(name);
  if (!tail.carried.empty()) body.ops.push_back(PackedWith(tail.carried, step));
  group->kind = plan::Group::LIST;
  if (body.ops.empty()) return tail;
  if (!SimpleValue(body)) {
    body.ops.push_back(Op{Reduce{plan::Reduce::FOLD}, step.span(), step.text});
    tail.unfolds = 2;
  }
  group->value = StoreFirst(std::move(body), builder);
  return tail;
}

// Fills in the group's value; the tail is what is left to do when the group is complete.
Status BuildGroupValue(const Bound& by, const StepCall& step, Group* group,
                       std::optional<GroupTail>* tail, Builder* builder) {
  if (!by.IsTraversal()) {
    ASSIGN_OR_RETURN(ExpressionPtr value,
                     BuildByArgument(by, Current(), plan::Project::LEAVE_ABSENT, step, builder));
    group->value = builder->FreshName('v');
    builder->Emit(Project{std::move(value), group->value, plan::Project::LEAVE_ABSENT});
    return OkStatus();
  }
  ASSIGN_OR_RETURN(Chain body, builder->Child(by));
  while (!body.ops.empty() && StoresCarried(body.ops.back())) body.ops.pop_back();
  size_t barrier = 0;
  while (barrier < body.ops.size() && !IsGroupBarrier(body.ops[barrier])) ++barrier;
  if (barrier == body.ops.size()) {
    group->kind = plan::Group::LAST;
    group->value = StoreFirst(std::move(body), builder);
    return OkStatus();
  }
  const bool reduced = barrier + 1 == body.ops.size() && As<Reduce>(body.ops[barrier]) != nullptr;
  if (reduced && BuildReducedValue(body, group, builder)) return OkStatus();
  *tail = BuildTail(std::move(body), barrier, step, group, builder);
  return OkStatus();
}

// group().by(key).by(steps with a barrier in the middle).
void EmitGroupWithTail(Group group, const GroupTail& tail, Builder* builder) {
  if (group.key.empty()) {
    group.key = builder->FreshName('k');
    builder->Emit(Project{Current(), group.key, plan::Project::DROP_ROW});
  }
  const std::string key = group.key;
  group.rows = true;
  builder->Emit(std::move(group));
  Chain body;
  AppendGroupTail(tail, &body);
  builder->Emit(Group{key, StoreFirst(std::move(body), builder), plan::Group::LAST});
}

// The name of the side-effect that the step fills, declared; "" for a step that gives its map.
StatusOr<std::string> DeclareEffect(const StepCall& step, const Group& group,
                                    const std::optional<GroupTail>& tail, Builder* builder) {
  if (step.args.empty()) return std::string();
  const std::string& name = step.args[0].value.AsString();
  SideEffect& effect = (*builder->side_effects())[name];
  if (effect.initial) {
    return NotThereYet(step.args[0].span, step.name(),
                       "groups that are added to a map of withSideEffect() are not there yet");
  }
  const bool other = effect.built && (!effect.is_group || effect.kind != group.kind ||
                                      effect.tail.has_value() || tail.has_value());
  if (other || !effect.is_group) {
    return NotThereYet(
        step.args[0].span, step.name(),
        "two steps that fill the side-effect \"" + name + "\" in different ways are not there yet");
  }
  effect.built = true;
  effect.kind = group.kind;
  effect.tail = tail;
  return name;
}

}  // namespace

Status BuildGroup(const StepCall& step, Builder* builder) {
  const bool counts = step.name() == "groupCount";
  RETURN_IF_ERROR(CheckByCount(step, counts ? 1 : 2));
  const bool effect = !step.args.empty();
  Group group;
  group.kind = counts ? plan::Group::COUNT : plan::Group::LIST;
  if (!step.bys.empty()) {
    // A row without a key is not gathered; into a side-effect it passes all the same.
    const plan::Project::Absent absent =
        effect ? plan::Project::LEAVE_ABSENT : plan::Project::DROP_ROW;
    ASSIGN_OR_RETURN(ExpressionPtr key, BuildBy(&step.bys[0], Current(), absent, step, builder));
    if (effect && key->kind != Expression::Kind::kCurrent &&
        key->kind != Expression::Kind::kNamed) {
      group.key = builder->FreshName('k');
      builder->Emit(Project{std::move(key), group.key, absent});
    } else {
      group.key = builder->Store(key);
    }
  }
  std::optional<GroupTail> tail;
  if (step.bys.size() == 2 && !step.bys[1].args.empty()) {
    RETURN_IF_ERROR(BuildGroupValue(step.bys[1].args[0], step, &group, &tail, builder));
  }
  ASSIGN_OR_RETURN(group.side_effect, DeclareEffect(step, group, tail, builder));
  if (tail && !effect) {
    EmitGroupWithTail(std::move(group), *tail, builder);
  } else {
    builder->Emit(std::move(group));
  }
  return OkStatus();
}

}  // namespace koios::planner
