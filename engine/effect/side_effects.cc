#include "engine/effect/side_effects.h"

#include <algorithm>
#include <utility>

#include "core/memory/charged_growth.h"
#include "core/value_codec.h"
#include "engine/account/call_work.h"
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
      Uncharged charge;
      for (const Value& member : value.AsList()) {
        if (effect.way == Way::kOnce) {
          HashedValue key(member);
          if (effect.once.Contains(key)) continue;
          RETURN_IF_ERROR(effect.once.MakeRoom(key, &charge).status());
          effect.once.Emplace(key);
        }
        RETURN_IF_ERROR(effect.bag.MakeRoom(&charge));
        effect.bag.EmplaceBack(member);
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

StatusOr<bool> SideEffects::Unshare(Effect* effect, ChargeAhead* charge, Value* list) {
  constexpr size_t kCopiesPerCall = 4096;
  if (!effect->list.has_value()) return true;
  const ValueList& shared = effect->list->AsList();
  PagedList<Value>& own = effect->bag;
  const size_t end = std::min(shared.size(), own.size() + kCopiesPerCall);
  while (own.size() < end) {
    RETURN_IF_ERROR(own.MakeRoom(charge));
    own.EmplaceBack(shared[own.size()]);
  }
  if (end < shared.size()) return false;
  effect->bytes -= RoomOf(shared);
  *list = *std::exchange(effect->list, std::nullopt);
  return true;
}

Status SideEffects::AddToBag(const Value& value, int64_t bulk, Effect* effect,
                             ChargeAhead* charge) {
  DCHECK(!effect->list.has_value());
  if (effect->way == Way::kOnce) {
    const HashedValue key(value);
    if (effect->once.Contains(key)) return OkStatus();
    RETURN_IF_ERROR(effect->once.MakeRoom(key, charge).status());
    RETURN_IF_ERROR(AddMany(value, 1, effect, charge));
    effect->once.Emplace(key);
    return OkStatus();
  }
  return AddMany(value, bulk, effect, charge);
}

// Or nothing: the value comes again when some of the bag is on disk.
Status SideEffects::AddMany(const Value& value, int64_t count, Effect* effect,
                            ChargeAhead* charge) {
  const auto outside = static_cast<int64_t>(value.ByteSize() - sizeof(Value));
  RETURN_IF_ERROR(charge->Take(outside));
  Status added = effect->bag.Add(value, count, charge);
  if (!added.ok()) charge->Return(outside);
  return added;
}

int64_t* SideEffects::ChargedFor(Effect* effect) { return &effect->bytes; }

// Some hundred steps at most. The value is charged from its first change on: what it begins with is
// the plan's.
StatusOr<int64_t> SideEffects::FoldInto(const Value& value, int64_t bulk, Effect* effect,
                                        ChargeAhead* charge) {
  constexpr int kMostSteps = 512;
  int64_t folded = 0;
  for (int step = 0; step < kMostSteps && folded < bulk; ++step) {
    ASSIGN_OR_RETURN(const int64_t times, FoldSomeCharged(effect->fold, value, bulk - folded,
                                                          effect->bytes, &*effect->value, charge));
    folded += times;
  }
  return folded;
}

StatusOr<int64_t> SideEffects::Add(Effect* effect, const Value& value, int64_t bulk,
                                   ChargeAhead* charge) {
  RETURN_IF_ERROR(CheckDepth(value.depth() + 1));  // in a list
  switch (effect->way) {
    case Way::kNone:
      return InvalidArgument("The side-effect \"" + effect->name + "\" is no collection but " +
                             std::string(KindName(effect->value->kind())) +
                             ", to which nothing can be added: withSideEffect() takes an operator "
                             "that puts values together.");
    case Way::kFold:
      return FoldInto(value, bulk, effect, charge);
    case Way::kAssign:
    case Way::kMember:
    case Way::kOnce:
      break;
  }
  RETURN_IF_ERROR(AddToBag(value, bulk, effect, charge));
  return bulk;
}

int64_t SideEffects::StartBarrier(const std::string& name) {
  Effect& effect = effects_[name];
  if (effect.way != Way::kAssign) return 0;
  effect.value.reset();
  effect.list.reset();
  effect.bag = {};
  if (effect.stored != nullptr) effect.stored->Drop();
  effect.stored.reset();
  effect.comes_back = false;
  FreeRoom(&effect.back);
  effect.extent = {};
  effect.num_moved = 0;
  effect.members = {};
  effect.num_members = 0;
  return std::exchange(effect.bytes, 0) + std::exchange(effect.member_bytes, 0);
}

GroupTable* SideEffects::Group(const std::string& name) {
  ForgetMap(name);
  return &*effects_.at(name).group;
}

void SideEffects::ForgetMap(const std::string& name) {
  const auto found = effects_.find(name);
  if (found == effects_.end()) return;
  const std::unique_ptr<GroupMap> map = std::exchange(found->second.map, nullptr);
  if (map != nullptr) (void)account_->ChargeState(-map->bytes);
}

GroupTable* SideEffects::FindGroup(const std::string& name) {
  std::optional<GroupTable>& group = effects_.at(name).group;
  return group.has_value() ? &*group : nullptr;
}

size_t SideEffects::NumStored(const Effect& bag) {
  return bag.stored == nullptr ? 0 : bag.stored->size();
}

Status SideEffects::GiveMembers(const std::string& name, bool takes, size_t* next, Batch* output,
                                bool* done, StateAccount* account) {
  Effect& effect = effects_.at(name);
  takes = takes && !effect.list.has_value();
  if (takes) effect.comes_back = true;  // no more to disk
  const size_t stored = NumStored(effect);
  const size_t end = stored + NumInMemory(effect);
  *done = false;
  if (*next < stored) {
    if (output->rows > 0) return OkStatus();  // a batch of its own
    ValueList block;
    RETURN_IF_ERROR(effect.stored->Read(*next, &block));
    for (const Value& member : block) output->AppendCurrent(member);
    *next += block.size();
  } else {
    const size_t first = *next - stored;
    int64_t outside = 0;
    const Value* last = nullptr;  // copies of one share what was charged once
    for (size_t bytes = 0; *next < end && output->rows < kBatchRows && bytes < kBatchBytes;) {
      const Value& member = InMemory(effect, (*next)++ - stored);
      bytes += member.ByteSize();
      if (last == nullptr || !member.SharesWith(*last)) {
        outside += static_cast<int64_t>(member.ByteSize() - sizeof(Value));
      }
      output->AppendCurrent(member);
      last = &member;
    }
    if (takes) DropMembers(first, *next - stored, outside, &effect, account);
  }
  *done = *next == end;
  if (takes && *done) {
    effect.bag = {};
    RETURN_IF_ERROR(account->ChargeState(-std::exchange(effect.bytes, 0)));
  }
  return OkStatus();
}

// Members [begin, end) of those in memory. Their pages go once the last one of a page does.
void SideEffects::DropMembers(size_t begin, size_t end, int64_t outside, Effect* effect,
                              StateAccount* account) {
  constexpr size_t kPage = PagedList<Value>::kPage;
  PagedList<Value>& bag = effect->bag;
  int64_t freed = outside;
  for (size_t i = begin; i < end; ++i) {
    bag[i] = Value();
    if (i % kPage != kPage - 1 && i + 1 < bag.size()) continue;
    freed += RoomOf(bag.page(i / kPage));
    FreeRoom(&bag.page(i / kPage));
  }
  freed = std::min(freed, effect->bytes);
  effect->bytes -= freed;
  (void)account->ChargeState(-freed);
}

int64_t SideEffects::SpillableBytes(const Effect& bag) {
  const bool is_of_members = bag.way == Way::kMember || bag.way == Way::kAssign;
  const bool is_asked = bag.list.has_value() || bag.comes_back || bag.num_members > 0;
  return is_of_members && !is_asked && bag.bag.size() > 0 ? bag.bytes : 0;
}

StatusOr<bool> SideEffects::Store(Effect* bag, const MakeStore& make, StateAccount* account) {
  if (SpillableBytes(*bag) == 0) return true;
  if (bag->stored == nullptr) bag->stored = make();
  constexpr size_t kPage = PagedList<Value>::kPage;
  ValueList& page = bag->bag.page(bag->num_going / kPage);
  ASSIGN_OR_RETURN(const size_t next, bag->stored->Append(page, bag->num_going % kPage));
  bag->num_going += next - bag->num_going % kPage;
  if (next == page.size()) FreeRoom(&page);
  if (bag->num_going < bag->bag.size()) return false;
  bag->bag = {};
  bag->num_going = 0;
  RETURN_IF_ERROR(account->ChargeState(-std::exchange(bag->bytes, 0)));
  return true;
}

StatusOr<bool> SideEffects::MakeWhole(const std::string& name) {
  constexpr size_t kPagesPerCall = 2;
  const auto found = effects_.find(name);
  if (found == effects_.end()) return true;
  Effect& effect = found->second;
  if (effect.group.has_value()) return MakeMap(&effect);
  if (effect.value.has_value()) return true;
  effect.comes_back = true;
  if (effect.list.has_value()) return true;
  ChargeAhead charge(account_, &effect.bytes);
  const size_t stored = NumStored(effect);
  RETURN_IF_ERROR(MakeRoom(&effect.back, stored + effect.bag.size() - effect.back.size(), &charge));
  if (effect.back.size() < stored) {
    ValueList block;
    RETURN_IF_ERROR(effect.stored->Read(effect.back.size(), &block));
    for (const Value& value : block) {
      RETURN_IF_ERROR(charge.Take(static_cast<int64_t>(value.ByteSize() - sizeof(Value))));
      effect.extent.Add(value);
    }
    effect.back.insert(effect.back.end(), block.begin(), block.end());
    return false;
  }
  // The last page may become longer until all go.
  const bool is_last = effect.bag.num_pages() - effect.num_moved <= kPagesPerCall;
  for (size_t i = 0; i < kPagesPerCall && effect.num_moved < effect.bag.num_pages(); ++i) {
    ValueList& page = effect.bag.page(effect.num_moved++);
    for (const Value& value : page) effect.extent.Add(value);
    MoveAll(&page, &effect.back, &charge);
  }
  return is_last ? EndList(&effect) : false;
}

StatusOr<bool> SideEffects::EndList(Effect* effect) {
  if (effect->stored != nullptr) effect->stored->Drop();
  effect->stored.reset();
  effect->bag = {};
  effect->num_moved = 0;
  const MembersExtent extent = std::exchange(effect->extent, {});
  ASSIGN_OR_RETURN(effect->list, effect->way == Way::kOnce
                                     ? Value::Set(std::exchange(effect->back, {}), extent)
                                     : Value::List(std::exchange(effect->back, {}), extent));
  return true;
}

StatusOr<bool> SideEffects::MakeMap(Effect* effect) const {
  const GroupTable& groups = *effect->group;
  if (effect->map == nullptr) {
    const int64_t bytes = groups.MapBytes(/*takes=*/false);
    RETURN_IF_ERROR(account_->ChargeState(bytes));
    effect->map = std::make_unique<GroupMap>();
    effect->map->bytes = bytes;
  }
  GroupMap& whole = *effect->map;
  if (whole.value.has_value()) return true;
  RETURN_IF_ERROR(groups.CopySome(&whole.copy));
  if (whole.copy.next < groups.size()) return false;
  ASSIGN_OR_RETURN(whole.value, Value::Map(std::exchange(whole.copy.map, {}), whole.copy.extent));
  return true;
}

StatusOr<Value> SideEffects::Read(const std::string& name) {
  const auto found = effects_.find(name);
  if (found == effects_.end()) {
    return InvalidArgument("There is no side-effect \"" + name + "\".");
  }
  Effect& effect = found->second;
  if (effect.value.has_value()) return *effect.value;
  for (bool is_whole = false; !is_whole;) {
    ASSIGN_OR_RETURN(is_whole, MakeWhole(name));
  }
  return effect.group.has_value() ? *effect.map->value : *effect.list;
}

Value SideEffects::TakeWhole(const std::string& name, int64_t* charged) {
  Effect& effect = effects_.at(name);
  if (effect.group.has_value()) {
    const std::unique_ptr<GroupMap> map = std::exchange(effect.map, nullptr);
    *charged += map->bytes;
    return *std::move(map->value);
  }
  *charged += std::exchange(effect.bytes, 0);
  effect.bag = {};  // what Unshare() had copied
  return *std::exchange(effect.list, std::nullopt);
}

StatusOr<SideEffects::Effect*> SideEffects::FindBag(const std::string& name) {
  const auto found = effects_.find(name);
  if (found == effects_.end() || found->second.group.has_value() ||
      found->second.value.has_value()) {
    return InvalidArgument("There is no side-effect \"" + name + "\" with members.");
  }
  return &found->second;
}

Status SideEffects::AddMember(const Value& value, bool in_bag, ChargeAhead* charge, Effect* bag) {
  RETURN_IF_ERROR(CheckKey(value));
  const auto outside = in_bag ? 0 : static_cast<int64_t>(value.ByteSize() - sizeof(Value));
  RETURN_IF_ERROR(charge->Take(outside + MemberSet::kEntryBytes));
  const auto before = static_cast<int64_t>(bag->members.ByteSize());
  const bool is_new = bag->members.Add(value);
  ++bag->num_members;
  if (!is_new) charge->Return(outside);
  return charge->Change(MemberSet::kEntryBytes,
                        static_cast<int64_t>(bag->members.ByteSize()) - before);
}

bool SideEffects::KnowsAll(const Effect& bag) {
  return bag.num_members == NumStored(bag) + NumInMemory(bag);
}

StatusOr<bool> SideEffects::LearnSome(Effect* bag) const {
  constexpr size_t kMemberWork = 3;
  ChargeAhead charge(account_, &bag->member_bytes);
  const size_t stored = NumStored(*bag);
  if (bag->num_members < stored) {
    ValueList block;
    RETURN_IF_ERROR(bag->stored->Read(bag->num_members, &block));
    for (const Value& value : block) {
      RETURN_IF_ERROR(AddMember(value, /*in_bag=*/false, &charge, bag));
    }
  } else {
    for (CallWork work(bag->members.moved()); !KnowsAll(*bag) && !work.is_over();) {
      work.Add(kMemberWork);
      const Value& value = InMemory(*bag, bag->num_members - stored);
      RETURN_IF_ERROR(AddMember(value, /*in_bag=*/true, &charge, bag));
    }
  }
  return KnowsAll(*bag);
}

StatusOr<bool> SideEffects::Contains(Effect* bag, const Value& value) const {
  RETURN_IF_ERROR(CheckKey(value));
  while (!KnowsAll(*bag)) RETURN_IF_ERROR(LearnSome(bag).status());
  return bag->members.Contains(value);
}

}  // namespace koios::engine
