#include <algorithm>
#include <set>

#include "planner/plan_error.h"
#include "planner/steps/expressions/by.h"
#include "planner/steps/expressions/local_form.h"
#include "planner/steps/steps.h"

namespace koios::planner {
namespace {

StatusOr<plan::SortKey::Direction> SortDirectionOf(const Bound& order) {
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
      ASSIGN_OR_RETURN(key.direction, SortDirectionOf(argument));
      continue;
    }
    if (argument.IsEnum("Column") && builder->env().current == ValueType::kMember) {
      // Entries and maps of one sort alike.
      value = argument.name == "keys" ? CallOf("map_keys", {value}) : CallOf("map_values", {value});
      continue;
    }
    ASSIGN_OR_RETURN(value,
                     BuildByArgument(argument, Current(), plan::Project::DROP_ROW, step, builder));
  }
  const bool shuffles = key.direction == plan::SortKey::SHUFFLE;
  key.name = builder->Store(shuffles ? value : WithId(value, *builder));
  return key;
}

bool IsColumnOrOrder(const Bound& argument) {
  return argument.IsEnum("Column") || (argument.IsEnum("Order") && argument.name != "shuffle");
}

// order(local) by one of a map's columns or by the members themselves.
bool IsPlainLocalOrder(const StepCall& step) {
  return step.bys.empty() ||
         (step.bys.size() == 1 &&
          std::all_of(step.bys[0].args.begin(), step.bys[0].args.end(), IsColumnOrOrder));
}

Status BuildPlainLocalOrder(const StepCall& step, Builder* builder) {
  std::string part;
  bool descending = false;
  for (const Modulator& by : step.bys) {
    for (const Bound& argument : by.args) {
      if (argument.IsEnum("Column")) part = argument.name;
      if (argument.IsEnum("Order")) {
        ASSIGN_OR_RETURN(const plan::SortKey::Direction direction, SortDirectionOf(argument));
        descending = direction == plan::SortKey::DESC;
      }
    }
  }
  return EmitList("list_order", {Constant(Value::String(part)), Constant(Value::Bool(descending))},
                  builder);
}

// order(local) by anything: the members become rows of a scope, are sorted and folded.
Status BuildLocalOrder(const StepCall& step, Builder* builder) {
  if (IsPlainLocalOrder(step)) return BuildPlainLocalOrder(step, builder);
  Builder members = builder->Inner(builder->env());
  members.Emit(Unfold{});
  Order order;
  for (const Modulator& by : step.bys) {
    ASSIGN_OR_RETURN(OrderKey key, BuildOrderKey(by, step, &members));
    order.keys.push_back(std::move(key));
  }
  members.Emit(std::move(order));
  members.Emit(Reduce{plan::Reduce::FOLD});
  const std::string sorted = builder->FreshName('o');
  builder->Emit(ScopeOf(plan::ScopeExit::FIRST, sorted, plan::Project::DROP_ROW, members.Take()));
  builder->Emit(Project{CallOf("like", {Named(sorted), Current()}), "", plan::Project::DROP_ROW});
  return OkStatus();
}

}  // namespace

Status BuildCount(const StepCall& step, Builder* builder) {
  if (IsLocal(step)) return EmitList("list_count", {}, builder);
  builder->Emit(Reduce{plan::Reduce::COUNT});
  return OkStatus();
}

Status BuildReduce(const StepCall& step, Builder* builder) {
  struct Row {
    std::string_view step;
    plan::Reduce::Function function;
    plan::FunctionRef local;
  };
  static constexpr Row kRows[] = {{"sum", plan::Reduce::SUM, "list_sum"},
                                  {"min", plan::Reduce::MIN, "list_min"},
                                  {"max", plan::Reduce::MAX, "list_max"},
                                  {"mean", plan::Reduce::MEAN, "list_mean"}};
  const Row& row = *std::find_if(std::begin(kRows), std::end(kRows),
                                 [&step](const Row& r) { return r.step == step.name(); });
  if (IsLocal(step)) return EmitList(row.local, {}, builder);
  builder->Emit(Reduce{row.function});
  return OkStatus();
}

Status BuildFold(const StepCall& step, Builder* builder) {
  if (!step.args.empty()) {
    static const std::set<std::string, std::less<>> kOperators = {
        "sum", "minus", "mult", "div", "min", "max", "assign", "and", "or", "addAll", "sumLong"};
    const Bound& name = step.args[1];
    if (!kOperators.contains(name.name)) {
      return StepError("WRONG_ARGUMENTS", name.span, step.name(),
                       "fold() knows no operator " + name.name);
    }
    builder->Emit(Reduce{plan::Reduce::FOLD_WITH, step.args[0].value, name.name});
    return OkStatus();
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
  if (order.keys.empty()) {
    OrderKey key;
    key.name = builder->Store(WithId(Current(), *builder));
    order.keys.push_back(std::move(key));
  }
  builder->Emit(std::move(order));
  return OkStatus();
}

Status BuildBarrier(const StepCall& step, Builder* builder) {
  const bool normalise = !step.args.empty() && step.args[0].IsEnum("Barrier");
  if (normalise || builder->sacks().meetings_show()) {
    builder->EmitMeeting(normalise);
  } else {
    builder->Emit(Barrier{});
  }
  return OkStatus();
}

}  // namespace koios::planner
