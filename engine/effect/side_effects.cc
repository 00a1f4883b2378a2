#include "engine/effect/side_effects.h"

#include <utility>

#include "core/value_codec.h"
#include "engine/account/charged_growth.h"
#include "engine/account/free_room.h"

namespace koios::engine {
namespace {

Status Conflict(const std::string& name) {
  return InvalidArgument("Two steps gather different things in the side-effect \"" + name +
                         "\": give one of them another name.");
}

}  // namespace

SideEffects::Effect* SideEffects::Declare(const std::string& name) {
  Effect* const effect = &effects_[name];
  effect->name = name;
  return effect;
}

Status SideEffects::DeclareBag(const std::string& name) {
  return Declare(name)->group.has_value() ? Conflict(name) : OkStatus();
}

Status SideEffects::DeclareGroup(const std::string& name, plan::Group::Value kind) {
  const bool fresh = !Has(name);
  Effect& effect = *Declare(name);
  if (fresh) effect.group.emplace(kind);
  return effect.group.has_value() && effect.group->kind() == kind ? OkStatus() : Conflict(name);
}

Status SideEffects::Begin(const plan::InitialEffect& initial) {
  Effect& effect = *Declare(initial.name());
  ASSIGN_OR_RETURN(Value value, DecodeWholeValue(initial.value()));
  const std::string& name = initial.operator_();
  if (name.empty() || name == "addAll") {
    effect.way = value.kind() == ValueKind::kSet ? Way::kOnce : Way::kMember;
    if (value.is_collection()) {
      // Part of the plan, and as large.
      for (const Value& member : value.AsList()) {
        if (effect.way == Way::kOnce && !effect.once.insert(member).second) continue;
        effect.bag.push_back(member);
      }
      return OkStatus();
    }
    effect.way = Way::kNone;
  } else {
    effect.way = name == "assign" ? Way::kAssign : Way::kFold;
    effect.fold = FindFoldOperator(name);
    if (effect.fold == nullptr) return Internal("The plan gathers with an unknown operator.");
  }
  effect.value = std::move(value);
  return OkStatus();
}

Status SideEffects::AddToBag(const Value& value, int64_t bulk, Effect* effect,
                             ChargeAhead* charge) {
  if (effect->list.has_value()) {  // somebody has it: a bag of its own
    const ValueList& shared = effect->list->AsList();
    RETURN_IF_ERROR(MakeRoom(&effect->bag, shared.size(), charge));
    effect->bag = shared;
    charge->Return(BytesOfMany(static_cast<int64_t>(shared.capacity()), sizeof(Value)));
    effect->list.reset();
  }
  if (effect->way == Way::kOnce) {
    if (effect->once.contains(value)) return OkStatus();
    RETURN_IF_ERROR(MakeRoom(&effect->once, charge));
    effect->once.insert(value);
    bulk = 1;
  }
  RETURN_IF_ERROR(MakeRoom(&effect->bag, static_cast<size_t>(bulk), charge));
  RETURN_IF_ERROR(charge->Take(static_cast<int64_t>(value.ByteSize() - sizeof(Value))));
  effect->bag.insert(effect->bag.end(), static_cast<size_t>(bulk), value);
  return OkStatus();
}

int64_t* SideEffects::ChargedFor(Effect* effect) { return &effect->bytes; }

Status SideEffects::Add(Effect* effect, const Value& value, int64_t bulk, ChargeAhead* charge) {
  RETURN_IF_ERROR(CheckDepth(value.depth() + 1));  // in a list
  switch (effect->way) {
    case Way::kNone:
      return InvalidArgument("The side-effect \"" + effect->name + "\" is no collection but " +
                             std::string(KindName(effect->value->kind())) +
                             ", to which nothing can be added: withSideEffect() takes an operator "
                             "that puts values together.");
    case Way::kFold: {
      std::optional<StatusOr<Value>> whole = FoldMany(effect->fold, *effect->value, value, bulk);
      if (whole.has_value()) {
        ASSIGN_OR_RETURN(effect->value, *std::move(whole));
        return OkStatus();
      }
      for (int64_t i = 0; i < bulk; ++i) {
        ASSIGN_OR_RETURN(effect->value, effect->fold(*effect->value, value));
      }
      return OkStatus();
    }
    case Way::kAssign:
    case Way::kMember:
    case Way::kOnce:
      break;
  }
  return AddToBag(value, bulk, effect, charge);
}

int64_t SideEffects::StartBarrier(const std::string& name) {
  Effect& effect = effects_[name];
  if (effect.way != Way::kAssign) return 0;
  effect.value.reset();
  effect.list.reset();
  FreeRoom(&effect.bag);
  effect.members = {};
  effect.num_members = 0;
  return std::exchange(effect.bytes, 0) + std::exchange(effect.member_bytes, 0);
}

GroupTable* SideEffects::Group(const std::string& name) { return &*effects_.at(name).group; }

GroupTable* SideEffects::FindGroup(const std::string& name) {
  std::optional<GroupTable>& group = effects_.at(name).group;
  return group.has_value() ? &*group : nullptr;
}

const ValueList& SideEffects::Members(const std::string& name) const {
  const Effect& effect = effects_.at(name);
  return effect.list.has_value() ? effect.list->AsList() : effect.bag;
}

StatusOr<Value> SideEffects::Read(const std::string& name) {
  const auto found = effects_.find(name);
  if (found == effects_.end()) {
    return InvalidArgument("There is no side-effect \"" + name + "\".");
  }
  Effect& effect = found->second;
  if (effect.group.has_value()) return effect.group->Map();
  if (effect.value.has_value()) return *effect.value;
  if (!effect.list.has_value()) {
    ASSIGN_OR_RETURN(effect.list, effect.way == Way::kOnce ? MakeSet(std::move(effect.bag))
                                                           : Value::List(std::move(effect.bag)));
    FreeRoom(&effect.bag);
  }
  return *effect.list;
}

int64_t SideEffects::ReadBytes(const std::string& name) const {
  const auto found = effects_.find(name);
  const bool is_group = found != effects_.end() && found->second.group.has_value();
  return is_group ? found->second.group->CopyBytes() : 0;
}

StatusOr<SideEffects::Effect*> SideEffects::FindBag(const std::string& name) {
  const auto found = effects_.find(name);
  if (found == effects_.end() || found->second.group.has_value() ||
      found->second.value.has_value()) {
    return InvalidArgument("There is no side-effect \"" + name + "\" with members.");
  }
  return &found->second;
}

StatusOr<bool> SideEffects::Contains(Effect* bag, const Value& value) const {
  const ValueList& members = bag->list.has_value() ? bag->list->AsList() : bag->bag;
  if (bag->num_members < members.size() && account_ != nullptr) {
    ChargeAhead charge(account_, &bag->member_bytes);
    const auto more = static_cast<int64_t>(members.size() - bag->num_members);
    RETURN_IF_ERROR(charge.Take(BytesOfMany(more, MemberSet::kEntryBytes)));
  }
  while (bag->num_members < members.size()) bag->members.Add(members[bag->num_members++]);
  return bag->members.Contains(value);
}

}  // namespace koios::engine
