// GroupTable: keys with what was gathered under each, in order of first appearance. What group()
// keeps, for one instance or as a side-effect of the query. Owned by one thread; Add charges the
// caller's account before it grows.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/arithmetic.h"
#include "engine/account/call_work.h"
#include "engine/account/charge_ahead.h"
#include "core/memory/paged_list.h"
#include "core/memory/parted_table.h"
#include "engine/account/values_left.h"
#include "engine/batch/batch.h"
#include "engine/effect/fold_list.h"
#include "engine/effect/hashed_key.h"
#include "proto/plan.pb.h"

namespace koios::engine {

class GroupTable {
 public:
  struct Copy {
    size_t next = 0;  // group
    ValueMap map;     // of those before
    MembersExtent extent;
    ValueList list;  // of `next`, as far as it is copied
    MembersExtent list_extent;
  };

  // Of a row, in units of CallWork: its key, its count and its value are three places.
  static constexpr size_t kRowWork = 3;

  // `of_shares`: values are what SaveAt() of workers' tables gave (SUM, MEAN), or numbers.
  explicit GroupTable(plan::Group::Value kind, bool of_shares = false)
      : kind_(kind), of_shares_(of_shares) {}

  // Rows from *at to `end`. A row without its key is not gathered; one without its value makes the
  // group all the same. *at: the first that was not added, or not all of it, for want of room, or
  // because a call has its share of work, of which tables that grew may have made much.
  Status AddRows(const Batch& input, RowPlace* at, size_t end, uint32_t key_slot,
                 uint32_t value_slot, ChargeAhead* charge);
  Status Add(const Value& key, const std::optional<Value>& value, int64_t bulk,
             ChargeAhead* charge);

  size_t size() const { return keys_.size(); }
  // Entries of indexes that growing has moved so far.
  size_t num_moved() const { return moved_; }
  const Value& KeyAt(size_t i) const { return keys_[i]; }
  int64_t CountAt(size_t i) const { return counts_[i]; }
  // nullopt: a group whose value gives nothing has no entry.
  StatusOr<std::optional<Value>> ValueAt(size_t i) const;
  // Appends groups from `*next` on to `map`, as many as one call takes, and adds them to `extent`.
  // Lists are moved out, each group's once, last. REQUIRES: MapBytes(/*takes=*/true) is charged.
  Status TakeSome(size_t* next, ValueMap* map, MembersExtent* extent, ChargeAhead* charge);
  // As much of a copy as one call makes; it has all groups when `next` is size(). REQUIRES:
  // MapBytes(/*takes=*/false) is charged.
  Status CopySome(Copy* copy) const;
  // What a group has gathered, for spilled files; nullopt: nothing but its count. A list is moved
  // out part by part, as long as has_more_to_save() then. Restore adds it to the group of the key:
  // of one group's in the order of SaveAt.
  StatusOr<std::optional<Value>> SaveAt(size_t i);
  bool has_more_to_save() const { return has_more_to_save_; }
  Status Restore(const Value& key, const std::optional<Value>& saved, int64_t count,
                 ChargeAhead* charge);
  // Groups from `*next` on as rows, as many as a batch takes and one call looks at: the value is
  // current, the key in `key_slot`. `takes`: as of TakeSome.
  Status GiveRows(uint32_t key_slot, bool takes, size_t* next, Batch* output, ChargeAhead* charge);
  // A share of freeing it: nothing but this is called any more, with the same `left`. Adds the
  // bytes that this frees, of its own and of the keys and values, which others may have as well.
  // True: that was all, but for its numbers.
  bool FreeSome(ValuesLeft* left, int64_t* own, int64_t* values);
  // Of a list that is taken next some has been.
  bool is_gathering() const { return is_gathering_; }
  // What a map of all of them allocates, to be charged before; `takes`: without the lists.
  int64_t MapBytes(bool takes) const;

  plan::Group::Value kind() const { return kind_; }

 private:
  struct One {
    bool any = false;
    Value value;
  };
  struct Total {
    bool any = false;
    NumberSum sum;
  };

  static constexpr size_t kAhead = 16;                  // keys that are looked for together
  static constexpr size_t kMostInMap = 4 * kBatchRows;  // entries of one call, or so much of lists
  static constexpr size_t kMostListBytes = 4 * kMostInMap * sizeof(Value);
  static constexpr size_t kSmall = 1024;
  static constexpr size_t kRowsOfSmall = 256;

  // The number of the entry of a key, which is made when there is none. A key comes as what its
  // index has, `as_value` makes a Value of it.
  template <typename Index, typename Key, typename AsValue>
  StatusOr<size_t> EntryOf(Index* index, const Key& key, const AsValue& as_value,
                           ChargeAhead* charge);
  StatusOr<size_t> EntryOf(const Value& key, ChargeAhead* charge);
  template <typename Index, typename Word>
  Status AddIndexed(Index* index, const Word& word, const Batch& input, RowPlace* at, size_t end,
                    const Column& keys, uint32_t value_slot, ChargeAhead* charge);
  // Of keys that no index has all of, or where some are absent.
  Status AddMixed(const Column& keys, const Batch& input, RowPlace* at, size_t end,
                  uint32_t value_slot, ChargeAhead* charge);
  template <typename Entries>
  Status AddEach(const Batch& input, RowPlace* at, size_t end, uint32_t value_slot,
                 const Entries& entries, CallWork* work, ChargeAhead* charge);
  Status CountInts(const Batch& input, RowPlace* at, size_t end, std::span<const int32_t> keys,
                   ChargeAhead* charge);
  Status CountUp(size_t entry, int64_t bulk);
  // RESOURCE_EXHAUSTED, and nothing is added.
  Status AddValue(size_t entry, const Value& value, int64_t bulk, ChargeAhead* charge);
  Status Extreme(const Value& value, One* one, ChargeAhead* charge) const;
  // To the sum of a group.
  Status AddTo(size_t number, const Value& value, int64_t bulk, ChargeAhead* charge);
  Status MergeInto(size_t number, const Value& saved, ChargeAhead* charge);
  Status MakeEntryRoom(ChargeAhead* charge);
  // A slice of what is to do before the value of the group can be taken; true: that is all.
  StatusOr<bool> MakeReady(size_t i, ChargeAhead* charge);
  StatusOr<std::optional<Value>> TakeValueAt(size_t i);
  // Bytes of its list.
  size_t AddToMap(size_t i, std::optional<Value> value, ValueMap* map, MembersExtent* extent) const;

  plan::Group::Value kind_;
  bool of_shares_;
  PagedList<Value> keys_;
  PagedList<int64_t> counts_;  // rows with their bulks, by key
  // By key as well, one of them.
  PagedList<One> ones_;        // LAST, MIN, MAX
  PagedList<Total> totals_;    // SUM, MEAN
  PagedList<FoldList> lists_;  // LIST
  int64_t listed_ = 0;         // members of all lists
  bool has_more_to_save_ = false;
  bool is_gathering_ = false;
  size_t moved_ = 0;  // entries of what follows, as it grew
  // By kind of key, as keys of different kinds are different.
  PartedTable<absl::flat_hash_map<int32_t, size_t>> ints_;
  std::vector<uint32_t> small_;  // COUNT: 1 + the number of that of ints 0, 1, ...; 0: none yet
  PartedTable<absl::flat_hash_map<int64_t, size_t>> longs_;
  PartedTable<absl::flat_hash_map<HashedView, size_t, TextHash, SameText>>
      strings_;  // what they are of stands in keys_
  PartedTable<absl::flat_hash_map<uint64_t, size_t>> vertices_;
  PartedTable<absl::flat_hash_map<HashedValue, size_t, HashedValue::Hash, HashedValue::Same>>
      others_;
};

// Groups that nobody needs any more.
class GroupsLeft final : public Leftover {
 public:
  explicit GroupsLeft(GroupTable table) : table_(std::move(table)) {}
  bool FreeSome(int64_t* freed) override { return table_.FreeSome(&left_, freed, freed); }

 private:
  GroupTable table_;
  ValuesLeft left_;
};

}  // namespace koios::engine
