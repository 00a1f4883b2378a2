#include "planner/plan_error.h"
#include "planner/rules/simple_body.h"
#include "planner/steps/by.h"
#include "planner/steps/local_form.h"
#include "planner/steps/steps.h"

namespace koios::planner {
namespace {

bool IsGroupBarrier(const Op& op) {
  return As<Reduce>(op) || As<Group>(op) || As<Order>(op) || As<Dedup>(op) || As<Sample>(op) ||
         As<Limit>(op) || As<Tail>(op);
}

StatusOr<plan::SortKey::Direction> DirectionOf(const Bound& order) {
  if (order.name == "asc") return plan::SortKey::ASC;
  if (order.name == "desc") return plan::SortKey::DESC;
  if (order.name == "shuffle") return plan::SortKey::SHUFFLE;
  return StepError("WRONG_ARGUMENTS", order.span, "by",
                   "Order is asc, desc or shuffle, not " + order.name);
}

StatusOr<OrderKey> BuildOrderKey(const Modulator& by, const StepCall& step, Builder* builder) {
  OrderKey key;
  ExpressionPtr value = Current();
  for (const Bound& argument : by.args) {
    if (argument.IsEnum("Order")) {
      ASSIGN_OR_RETURN(key.direction, DirectionOf(argument));
      continue;
    }
    ASSIGN_OR_RETURN(value,
                     BuildByArgument(argument, Current(), plan::Project::DROP_ROW, step, builder));
  }
  key.name = builder->Store(value);
  return key;
}

// Wraps `body` so that each row gets its first result under a fresh name, absent when it has none.
std::string StoreFirst(Chain body, Builder* builder) {
  const std::string name = builder->FreshName('v');
  builder->Emit(
      ScopeOf(plan::ScopeExit::FIRST, name, plan::Project::LEAVE_ABSENT, std::move(body)));
  return name;
}

// group().by(key).by(body that ends in a reducer): what stands before the reducer runs per row.
Status BuildReducedValue(Chain body, const Bound& by, const StepCall& step, Group* group,
                         Builder* builder) {
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
    default:
      group->kind = plan::Group::LIST;
      break;
  }
  if (whole) return OkStatus();
  if (!foldable) {
    body.ops.pop_back();
    if (!SimpleValue(body)) {
      return NotThereYet(by.span, step.name(),
                         "mean() or fold() of several values per traverser in group().by() is "
                         "not there yet");
    }
  }
  group->value = StoreFirst(std::move(body), builder);
  return OkStatus();
}

Status BuildGroupValue(const Bound& by, const StepCall& step, Group* group, Builder* builder) {
  if (!by.IsTraversal()) {
    ASSIGN_OR_RETURN(ExpressionPtr value,
                     BuildByArgument(by, Current(), plan::Project::LEAVE_ABSENT, step, builder));
    group->value = builder->FreshName('v');
    builder->Emit(Project{std::move(value), group->value, plan::Project::LEAVE_ABSENT});
    return OkStatus();
  }
  ASSIGN_OR_RETURN(Chain body, builder->Child(by));
  while (!body.ops.empty() && WrittenName(body.ops.back()) == kPathName) body.ops.pop_back();
  size_t barrier = 0;
  while (barrier < body.ops.size() && !IsGroupBarrier(body.ops[barrier])) ++barrier;
  if (barrier == body.ops.size()) {
    group->kind = plan::Group::FIRST;
    group->value = StoreFirst(std::move(body), builder);
    return OkStatus();
  }
  if (barrier + 1 < body.ops.size() || !As<Reduce>(body.ops[barrier])) {
    return NotThereYet(by.span, step.name(),
                       "steps behind the first barrier of group()'s value are not there yet");
  }
  return BuildReducedValue(std::move(body), by, step, group, builder);
}

// order(local): by the members; of a map by(keys) or by(values).
Status BuildLocalOrder(const StepCall& step, Builder* builder) {
  std::string part;
  bool descending = false;
  if (step.bys.size() > 1) {
    return NotThereYet(step.span(), step.name(),
                       "order(Scope.local) with more than one by() is not there yet");
  }
  for (const Modulator& by : step.bys) {
    for (const Bound& argument : by.args) {
      if (argument.IsEnum("Column")) {
        part = argument.name;
      } else if (argument.IsEnum("Order") && argument.name != "shuffle") {
        descending = argument.name == "desc";
      } else {
        return NotThereYet(argument.span, "by",
                           "order(Scope.local) is ordered by keys, by values or by itself yet");
      }
    }
  }
  return EmitList("list_order", {Constant(Value::String(part)), Constant(Value::Bool(descending))},
                  builder);
}

}  // namespace

Status BuildCount(const StepCall& step, Builder* builder) {
  if (IsLocal(step)) return EmitList("list_count", {}, builder);
  builder->Emit(Reduce{plan::Reduce::COUNT});
  return OkStatus();
}

Status BuildReduce(const StepCall& step, Builder* builder) {
  if (IsLocal(step)) return EmitList("list_" + std::string(step.name()), {}, builder);
  builder->Emit(Reduce{step.name() == "sum"   ? plan::Reduce::SUM
                       : step.name() == "min" ? plan::Reduce::MIN
                       : step.name() == "max" ? plan::Reduce::MAX
                                              : plan::Reduce::MEAN});
  return OkStatus();
}

Status BuildFold(const StepCall& step, Builder* builder) {
  if (!step.args.empty()) {
    return NotThereYet(step.span(), step.name(), "fold(seed, operator) is not there yet");
  }
  builder->Emit(Reduce{plan::Reduce::FOLD});
  return OkStatus();
}

Status BuildOrder(const StepCall& step, Builder* builder) {
  if (IsLocal(step)) return BuildLocalOrder(step, builder);
  Order order;
  for (const Modulator& by : step.bys) {
    ASSIGN_OR_RETURN(OrderKey key, BuildOrderKey(by, step, builder));
    order.keys.push_back(std::move(key));
  }
  if (order.keys.empty()) order.keys.push_back({});
  builder->Emit(std::move(order));
  return OkStatus();
}

Status BuildGroup(const StepCall& step, Builder* builder) {
  if (!step.args.empty()) {
    return NotThereYet(step.args[0].span, step.name(),
                       std::string(step.name()) + "() as a side-effect is not there yet");
  }
  const bool counts = step.name() == "groupCount";
  RETURN_IF_ERROR(CheckByCount(step, counts ? 1 : 2));
  Group group;
  group.kind = counts ? plan::Group::COUNT : plan::Group::LIST;
  if (!step.bys.empty()) {
    ASSIGN_OR_RETURN(ExpressionPtr key,
                     BuildBy(&step.bys[0], Current(), plan::Project::DROP_ROW, step, builder));
    group.key = builder->Store(key);
  }
  if (step.bys.size() == 2 && !step.bys[1].args.empty()) {
    RETURN_IF_ERROR(BuildGroupValue(step.bys[1].args[0], step, &group, builder));
  }
  builder->Emit(std::move(group));
  return OkStatus();
}

}  // namespace koios::planner
