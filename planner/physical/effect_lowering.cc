// Lowering of side-effects where workers share nothing: each worker has a share of them.
#include <algorithm>

#include "planner/physical/lowering.h"

namespace koios::planner {

EffectPlace Lowering::PlaceOf(const std::string& name) const {
  const auto found = effect_places_.find(name);
  return found == effect_places_.end() ? EffectPlace::kHome : found->second;
}

bool Lowering::Takes(const Cap& op) const {
  return std::ranges::all_of(op.names,
                             [this](const auto& name) { return capped_once_.contains(name); });
}

void Lowering::ToPlaceOf(uint32_t slot) {
  if (HoldsElements(slot)) return ToOwner(slot);
  AddExchange(plan::Exchange::VALUE, slot);
}

// Rows with an order give the bag theirs, all at one place.
void Lowering::ToShareOf(const Aggregate& op) {
  if (PlaceOf(op.name) == EffectPlace::kByValue) {
    ToPlaceOf(SlotOf(op.value));
  } else if (flow_.ordered) {
    ToHomeInOrder();
    ordered_effects_.insert(op.name);
  }
}

// Each group is at one worker.
void Lowering::GroupInShares(const Group& op) {
  if (flow_.ordered) {
    ToHomeInOrder();
    ordered_effects_.insert(op.side_effect);
  } else {
    MeetEqual({SlotOf(op.key)});
  }
  plan::Operator* const added = AddGroup(op, plan::FINAL);
  added->set_spread(true);
  added->mutable_group()->set_side_effect(op.side_effect);
}

// All workers give what they have. Home makes one value of it, where somebody asks for that, or for
// members or entries in the order in which it has them.
void Lowering::CapShares(const Cap& op) {
  plan::Operator* const added = Add();
  added->set_spread(true);
  plan::Cap* const cap = added->mutable_cap();
  cap->add_names(op.names[0]);
  cap->set_stage(plan::PARTIAL);
  cap->set_takes(Takes(op));
  const std::string key = op.is_map ? FreshName() : "";
  if (op.is_map) cap->set_key_slot(SlotOf(key));
  flow_.ordered = false;
  flow_.here.clear();
  flow_.at_home = false;
  flow_.mixed = true;
  if (op.rows && !ordered_effects_.contains(op.names[0])) {
    if (!op.is_map) return;
    AddProject(CallOf("map_of", {Named(key), Current()}), 0, plan::Project::DROP_ROW);
    return;
  }
  ToHomeAlways();
  if (op.is_map) {
    plan::Group* const all = Add()->mutable_group();
    all->set_key_slot(SlotOf(key));
    all->set_value(plan::Group::LAST);
  } else {
    Add()->mutable_reduce()->set_function(plan::Reduce::FOLD);
  }
  if (op.rows) UnfoldWhole();
}

// The one value that is there becomes rows, in its order.
void Lowering::UnfoldWhole() {
  flow_.one_row = true;
  Lower(Unfold());
}

// in_side_effect(value, "x") where values have places: the row goes to that of the value to ask.
ExpressionPtr Lowering::StoreMemberTests(const ExpressionPtr& expression) {
  if (expression->kind != Expression::Kind::kCall) return expression;
  constexpr plan::Project::Absent kLeave = plan::Project::LEAVE_ABSENT;
  std::vector<ExpressionPtr> args;
  for (const ExpressionPtr& arg : expression->args) args.push_back(StoreMemberTests(arg));
  const bool asks = IsCall(*expression, "in_side_effect") &&
                    PlaceOf(args[1]->constant.AsString()) == EffectPlace::kByValue;
  if (!asks) {
    return args == expression->args ? expression : CallOf(*expression->function, std::move(args));
  }
  if (args[0]->kind == Expression::Kind::kCall || args[0]->kind == Expression::Kind::kConstant) {
    const std::string value = FreshName();
    AddProject(Prepare(args[0], kLeave), SlotOf(value), kLeave);
    args[0] = Named(value);
  }
  ToPlaceOf(args[0]->kind == Expression::Kind::kCurrent ? 0 : SlotOf(args[0]->name));
  const std::string found = FreshName();
  AddProject(CallOf(*expression->function, std::move(args)), SlotOf(found), kLeave);
  return Named(found);
}

}  // namespace koios::planner
