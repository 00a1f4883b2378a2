#include "engine/effect/side_effects.h"

#include <algorithm>
#include <utility>

#include "core/memory/charged_growth.h"
#include "core/value_codec.h"
#include "engine/account/charge_ahead.h"
#include "engine/account/free_room.h"
#include "engine/batch/key_bound.h"

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
  if (effect.stored != nullptr) effect.stored->Drop();
  effect.stored.reset();
  effect.comes_back = false;
  FreeRoom(&effect.back);
  effect.members = {};
  effect.num_members = 0;
  return std::exchange(effect.bytes, 0) + std::exchange(effect.member_bytes, 0);
}

GroupTable* SideEffects::Group(const std::string& name) { return &*effects_.at(name).group; }

GroupTable* SideEffects::FindGroup(const std::string& name) {
  std::optional<GroupTable>& group = effects_.at(name).group;
  return group.has_value() ? &*group : nullptr;
}

size_t SideEffects::NumStored(const Effect& bag) {
  return bag.stored == nullptr ? 0 : bag.stored->size();
}

Status SideEffects::GiveMembers(const std::string& name, size_t* next, Batch* output,
                                bool* done) const {
  const Effect& effect = effects_.at(name);
  const size_t stored = NumStored(effect);
  const ValueList& bag = InMemory(effect);
  *done = false;
  if (*next < stored) {
    if (output->rows > 0) return OkStatus();  // a batch of its own
    ValueList block;
    RETURN_IF_ERROR(effect.stored->Read(*next, &block));
    for (const Value& member : block) output->AppendCurrent(member);
    *next += block.size();
  } else {
    for (size_t bytes = 0;
         *next < stored + bag.size() && output->rows < kBatchRows && bytes < kBatchBytes;) {
      const Value& member = bag[(*next)++ - stored];
      bytes += member.ByteSize();
      output->AppendCurrent(member);
    }
  }
  *done = *next == stored + bag.size();
  return OkStatus();
}

int64_t SideEffects::SpillableBytes(const Effect& bag) {
  const bool is_of_members = bag.way == Way::kMember || bag.way == Way::kAssign;
  const bool is_asked = bag.list.has_value() || bag.comes_back || bag.num_members > 0;
  return is_of_members && !is_asked && !bag.bag.empty() ? bag.bytes : 0;
}

StatusOr<bool> SideEffects::Store(Effect* bag, const MakeStore& make, StateAccount* account) {
  if (SpillableBytes(*bag) == 0) return true;
  if (bag->stored == nullptr) bag->stored = make();
  ASSIGN_OR_RETURN(bag->num_going, bag->stored->Append(bag->bag, bag->num_going));
  if (bag->num_going < bag->bag.size()) return false;
  FreeRoom(&bag->bag);
  bag->num_going = 0;
  RETURN_IF_ERROR(account->ChargeState(-std::exchange(bag->bytes, 0)));
  return true;
}

StatusOr<bool> SideEffects::BringBack(const std::string& name) {
  const auto found = effects_.find(name);
  if (found == effects_.end()) return true;
  Effect& effect = found->second;
  effect.comes_back = true;
  if (effect.stored == nullptr) return true;
  ChargeAhead charge(account_, &effect.bytes);
  const size_t all = effect.stored->size() + effect.bag.size();
  RETURN_IF_ERROR(MakeRoom(&effect.back, all - effect.back.size(), &charge));
  if (effect.back.size() < effect.stored->size()) {
    ValueList block;
    RETURN_IF_ERROR(effect.stored->Read(effect.back.size(), &block));
    for (const Value& value : block) {
      RETURN_IF_ERROR(charge.Take(static_cast<int64_t>(value.ByteSize() - sizeof(Value))));
    }
    effect.back.insert(effect.back.end(), block.begin(), block.end());
    return false;
  }
  effect.back.insert(effect.back.end(), effect.bag.begin(), effect.bag.end());
  charge.Return(BytesOfMany(static_cast<int64_t>(effect.bag.capacity()), sizeof(Value)));
  effect.bag = std::exchange(effect.back, {});
  effect.stored->Drop();
  effect.stored.reset();
  return true;
}

StatusOr<Value> SideEffects::Read(const std::string& name) {
  const auto found = effects_.find(name);
  if (found == effects_.end()) {
    return InvalidArgument("There is no side-effect \"" + name + "\".");
  }
  Effect& effect = found->second;
  if (effect.group.has_value()) return effect.group->Map();
  if (effect.value.has_value()) return *effect.value;
  for (bool is_back = false; !is_back;) {
    ASSIGN_OR_RETURN(is_back, BringBack(name));
  }
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

Status SideEffects::AddMembers(std::span<const Value> values, bool in_bag, Effect* bag) const {
  std::optional<ChargeAhead> charge;
  if (account_ != nullptr) charge.emplace(account_, &bag->member_bytes);
  for (const Value& value : values) {
    RETURN_IF_ERROR(CheckKey(value));
    const int64_t bytes = MemberSet::kEntryBytes +
                          (in_bag ? 0 : static_cast<int64_t>(value.ByteSize() - sizeof(Value)));
    if (charge.has_value()) RETURN_IF_ERROR(charge->Take(bytes));
    const bool is_new = bag->members.Add(value);
    if (charge.has_value() && !is_new) charge->Return(bytes);
    ++bag->num_members;
  }
  return OkStatus();
}

bool SideEffects::KnowsAll(const Effect& bag) {
  return bag.num_members == NumStored(bag) + InMemory(bag).size();
}

StatusOr<bool> SideEffects::LearnSome(Effect* bag) const {
  constexpr size_t kMost = 1'024;
  const size_t stored = NumStored(*bag);
  if (bag->num_members < stored) {
    ValueList block;
    RETURN_IF_ERROR(bag->stored->Read(bag->num_members, &block));
    RETURN_IF_ERROR(AddMembers(block, /*in_bag=*/false, bag));
  } else {
    const auto more = std::span(InMemory(*bag)).subspan(bag->num_members - stored);
    RETURN_IF_ERROR(AddMembers(more.first(std::min(more.size(), kMost)), /*in_bag=*/true, bag));
  }
  return KnowsAll(*bag);
}

StatusOr<bool> SideEffects::Contains(Effect* bag, const Value& value) const {
  RETURN_IF_ERROR(CheckKey(value));
  while (!KnowsAll(*bag)) RETURN_IF_ERROR(LearnSome(bag).status());
  return bag->members.Contains(value);
}

}  // namespace koios::engine
