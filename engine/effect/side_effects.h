// SideEffects: what aggregate('x'), group('x') and groupCount('x') gather under a name, as far as
// that is at this worker. One per query and worker: no synchronisation. The operators that add to
// it charge for it; it goes with the query.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "core/memory/paged_list.h"
#include "core/memory/parted_table.h"
#include "core/value.h"
#include "engine/account/charge_ahead.h"
#include "engine/effect/fold_operator.h"
#include "engine/effect/group_table.h"
#include "engine/effect/hashed_key.h"
#include "engine/effect/member_set.h"
#include "engine/effect/stored_members.h"
#include "proto/plan.pb.h"

namespace koios::engine {

class SideEffects {
  struct Effect;

 public:
  using MakeStore = std::function<std::unique_ptr<StoredMembers>()>;

  // Before any row: what the side-effect is until something is gathered, and how that is put to it.
  // INTERNAL for a damaged plan.
  Status Begin(const plan::InitialEffect& initial);
  // A side-effect is there, empty, before the first row comes to the step that fills it.
  // INVALID_ARGUMENT when two steps fill one name in different ways.
  Status DeclareBag(const std::string& name);
  Status DeclareGroup(const std::string& name, plan::Group::Value kind);

  // What many values are put to, or asked of, by a call: found once. REQUIRES: declared.
  Effect* Find(const std::string& name) { return &effects_.at(name); }
  // INVALID_ARGUMENT for what has no members.
  StatusOr<Effect*> FindBag(const std::string& name);
  // What is charged for the bag, or for the groups; stays where it is.
  static int64_t* ChargedFor(Effect* effect);
  // Whether each of a value's traversers becomes a member.
  static bool IsOfMembers(const Effect& effect) {
    return effect.way == Way::kMember || effect.way == Way::kAssign;
  }
  // A slice of making a bag that somebody has read as a list, which stays his, one that grows
  // again; true: it is. `list` is that list then, whose room is charged and the caller's to leave;
  // else it is null. `charge` as for Add().
  static StatusOr<bool> Unshare(Effect* effect, ChargeAhead* charge, Value* list);
  // Returns how many of `bulk` were added: what is folded with another value may take a step for
  // each. `charge` is one for ChargedFor(effect). INVALID_ARGUMENT where the side-effect began with
  // a value that nothing can be put to. REQUIRES: Unshare() was true.
  static StatusOr<int64_t> Add(Effect* effect, const Value& value, int64_t bulk,
                               ChargeAhead* charge);
  // A barrier is about to add what it has: with Operator.assign only that will be there. Returns
  // the bytes that this frees.
  int64_t StartBarrier(const std::string& name);
  // For who adds to it.
  GroupTable* Group(const std::string& name);
  bool Has(const std::string& name) const { return effects_.contains(name); }
  // REQUIRES for these: Has(name). Null for a bag.
  GroupTable* FindGroup(const std::string& name);
  // What this worker has of a bag, from the member *next on: about a batch of them. `takes`: they
  // are there no more, nobody asks for anything else of the bag, and `account` has back what was
  // charged for them.
  Status GiveMembers(const std::string& name, bool takes, size_t* next, Batch* output, bool* done,
                     StateAccount* account);

  // What of a bag could go to disk: nothing once somebody has asked for its members, or for all of
  // it as a value.
  static int64_t SpillableBytes(const Effect& bag);
  // A slice of putting it there, where it has no store in one that is made; true: all is there, and
  // the account has back what was charged for it.
  static StatusOr<bool> Store(Effect* bag, const MakeStore& make, StateAccount* account);
  // A slice of making the bag one list, which comes back and stays in memory, or the groups a map;
  // true: it is there. Read() does it otherwise.
  StatusOr<bool> MakeWhole(const std::string& name);

  // The bag as a list, which it shares; the groups as a map, which is there until the next is
  // added. INVALID_ARGUMENT for a name that is not declared.
  StatusOr<Value> Read(const std::string& name);
  // The list that MakeWhole() has made, which nobody else has, or the map; `charged`: adds what was
  // charged for it, which is the caller's now. REQUIRES: nobody asks for the bag any more.
  Value TakeWhole(const std::string& name, int64_t* charged);
  // What MakeWhole() has made of groups, whole or not.
  void ForgetMap(const std::string& name);
  // True for the first who asks with this name.
  bool Once(const std::string& name) { return asked_.insert(name).second; }
  // Whether a bag has a value that Equals this one. What is needed to tell is made for the first
  // who asks, and charged to the account below.
  StatusOr<bool> Contains(Effect* bag, const Value& value) const;
  // A slice of making that; true: all is there. Contains() does it otherwise.
  StatusOr<bool> LearnSome(Effect* bag) const;
  // Whom LearnSome() and MakeWhole() charge; outlives this.
  void ChargeTo(StateAccount* account) { account_ = account; }

 private:
  // How values are put to a bag.
  enum class Way : uint8_t {
    kMember,  // as one more
    kOnce,    // as one more, when it was not there: the bag is a set
    kFold,    // by the operator, and there is no bag
    kAssign,  // each barrier's are a new bag
    kNone,    // not at all: what it began with is no collection
  };
  // Whole once `value` is there.
  struct GroupMap {
    GroupTable::Copy copy;
    std::optional<Value> value;
    int64_t bytes = 0;  // charged
  };
  struct Effect {
    std::string name;
    std::optional<GroupTable> group;  // else a bag, or one value
    Way way = Way::kMember;
    std::optional<Value> value;  // kFold; kAssign, kNone: what it began with
    FoldOperator fold = nullptr;
    // kOnce: those of the bag.
    PartedTable<absl::flat_hash_set<HashedValue, HashedValue::Hash, HashedValue::Same>> once;
    int64_t bytes = 0;                      // charged for the bag, or for the groups
    PagedList<Value> bag;                   // while `list` is there: what Unshare() has copied
    std::optional<Value> list;              // the bag as a value, until the next is added
    std::unique_ptr<GroupMap> map;          // the groups as one
    std::unique_ptr<StoredMembers> stored;  // the members before those of `bag`
    size_t num_going = 0;     // of `bag`, those that are there as well: Store() goes on
    bool comes_back = false;  // is asked for as a value
    ValueList back;           // what has come back so far, or has been moved to one list,
    MembersExtent extent;     // of these
    size_t num_moved = 0;     // pages of `bag`
    MemberSet members;        // of the first `num_members` of all
    size_t num_members = 0;
    int64_t member_bytes = 0;  // charged for them
  };

  static void DropMembers(size_t begin, size_t end, int64_t outside, Effect* effect,
                          StateAccount* account);
  static StatusOr<int64_t> FoldInto(const Value& value, int64_t bulk, Effect* effect,
                                    ChargeAhead* charge);
  static Status AddToBag(const Value& value, int64_t bulk, Effect* effect, ChargeAhead* charge);
  static Status AddMany(const Value& value, int64_t count, Effect* effect, ChargeAhead* charge);
  static StatusOr<bool> EndList(Effect* effect);  // true
  StatusOr<bool> MakeMap(Effect* effect) const;
  static size_t NumStored(const Effect& bag);
  static bool KnowsAll(const Effect& bag);
  // The bag's members, as far as they are in memory.
  static size_t NumInMemory(const Effect& bag) {
    return bag.list.has_value() ? bag.list->AsList().size() : bag.bag.size();
  }
  static const Value& InMemory(const Effect& bag, size_t i) {
    if (bag.list.has_value()) return bag.list->AsList()[i];
    const bool is_moved = i < bag.num_moved * PagedList<Value>::kPage;
    return is_moved ? bag.back[NumStored(bag) + i] : bag.bag[i];
  }
  // `in_bag`: what the value has is charged already.
  static Status AddMember(const Value& value, bool in_bag, ChargeAhead* charge, Effect* bag);

  Effect* Declare(const std::string& name);  // or what was declared before

  StateAccount* account_ = UnlimitedAccount();
  std::map<std::string, Effect> effects_;
  std::set<std::string> asked_;
};

}  // namespace koios::engine
