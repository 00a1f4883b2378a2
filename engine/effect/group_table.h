// GroupTable: keys with what was gathered under each, in order of first appearance. What group()
// keeps, for one instance or as a side-effect of the query. Owned by one thread; Add charges the
// caller's account before it grows.
#pragma once

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/arithmetic.h"
#include "core/value_compare.h"
#include "engine/batch/batch.h"
#include "proto/plan.pb.h"

namespace koios::engine {

class ChargeAhead;

class GroupTable {
 public:
  explicit GroupTable(plan::Group::Value kind) : kind_(kind) {}

  // A row without its key is not gathered; one without its value makes the group all the same.
  Status Add(const Batch& input, size_t row, uint32_t key_slot, uint32_t value_slot,
             ChargeAhead* charge);
  Status Add(const Value& key, const std::optional<Value>& value, int64_t bulk,
             ChargeAhead* charge);

  size_t size() const { return entries_.size(); }
  const Value& KeyAt(size_t i) const { return entries_[i].key; }
  // nullopt: a group whose value gives nothing has no entry.
  StatusOr<std::optional<Value>> ValueAt(size_t i) const;
  StatusOr<Value> Map() const;
  // As these, but lists are moved out, not copied: each group's once, last.
  StatusOr<std::optional<Value>> TakeValueAt(size_t i);
  StatusOr<Value> TakeMap();
  // What TakeMap() and what Map() allocates, to be charged before.
  int64_t MapBytes() const;
  int64_t CopyBytes() const;

  plan::Group::Value kind() const { return kind_; }

 private:
  struct Entry {
    Value key;
    bool any = false;
    int64_t count = 0;
    Value one;       // FIRST, MIN, MAX
    NumberSum sum;   // SUM, MEAN
    ValueList list;  // LIST
  };

  static constexpr size_t kIndexBytes = 64;  // of one key

  template <typename ValueOf>
  StatusOr<Value> MapOf(const ValueOf& value_of) const;
  Status Extreme(const Value& value, Entry* entry) const;

  plan::Group::Value kind_;
  std::vector<Entry> entries_;
  int64_t listed_ = 0;  // members of all lists
  absl::flat_hash_map<Value, size_t, ValueHash, ValueEquivalent> index_;
};

}  // namespace koios::engine
