#include "engine/effect/side_effects.h"

#include <algorithm>

#include "engine/account/charge_ahead.h"

namespace koios::engine {
namespace {

Status Conflict(const std::string& name) {
  return InvalidArgument("Two steps gather different things in the side-effect \"" + name +
                         "\": give one of them another name.");
}

}  // namespace

Status SideEffects::DeclareBag(const std::string& name) {
  const Effect& effect = effects_[name];
  return effect.group.has_value() ? Conflict(name) : OkStatus();
}

Status SideEffects::DeclareGroup(const std::string& name, plan::Group::Value kind) {
  const auto [found, fresh] = effects_.try_emplace(name);
  Effect& effect = found->second;
  if (fresh) effect.group.emplace(kind);
  return effect.group.has_value() && effect.group->kind() == kind ? OkStatus() : Conflict(name);
}

int64_t SideEffects::BagBytes(const Value& value, int64_t bulk) {
  // In the list, in the list that is read, and in the index.
  return BytesOfMany(bulk, 2 * sizeof(Value)) + MemberSet::kEntryBytes +
         2 * static_cast<int64_t>(sizeof(Value) + value.ByteSize());
}

void SideEffects::AddToBag(const std::string& name, const Value& value, int64_t bulk) {
  Effect& effect = effects_[name];
  effect.list.reset();
  effect.bag.insert(effect.bag.end(), static_cast<size_t>(bulk), value);
  effect.members.Add(value);
}

GroupTable* SideEffects::Group(const std::string& name) { return &*effects_.at(name).group; }

StatusOr<Value> SideEffects::Read(const std::string& name) {
  const auto found = effects_.find(name);
  if (found == effects_.end()) {
    return InvalidArgument("There is no side-effect \"" + name + "\".");
  }
  Effect& effect = found->second;
  if (effect.group.has_value()) return effect.group->Map();
  if (!effect.list.has_value()) {
    ASSIGN_OR_RETURN(effect.list, Value::List(effect.bag));
  }
  return *effect.list;
}

int64_t SideEffects::ReadBytes(const std::string& name) const {
  const auto found = effects_.find(name);
  const bool is_group = found != effects_.end() && found->second.group.has_value();
  return is_group ? found->second.group->CopyBytes() : 0;
}

StatusOr<bool> SideEffects::Contains(const std::string& name, const Value& value) const {
  const auto found = effects_.find(name);
  if (found == effects_.end() || found->second.group.has_value()) {
    return InvalidArgument("There is no side-effect \"" + name + "\" with members.");
  }
  return found->second.members.Contains(value);
}

}  // namespace koios::engine
