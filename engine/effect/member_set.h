// MemberSet: the distinct values of a collection, to ask whether one Equals any of them. By hash,
// so that asking does not walk them. One thread.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/memory/charged_growth.h"
#include "core/value.h"
#include "core/memory/parted_table.h"

namespace koios::engine {

// The same for all values that are equal, whatever their kinds; of sets and maps whatever their
// order.
uint64_t MemberHash(const Value& value);

class MemberSet {
 public:
  // What a value costs beside itself, at most about: for who asks before it is added.
  static constexpr int64_t kEntryBytes = 96;
  // What all of them cost.
  size_t ByteSize() const { return static_cast<size_t>(room_.bytes); }

  // False: it is nothing that was not there, or that anything equals.
  bool Add(const Value& value);
  bool Contains(const Value& value) const;
  // Entries that growing has moved so far.
  const size_t* moved() const { return &moved_; }

 private:
  // By their bits: nothing else equals them.
  PartedTable<absl::flat_hash_set<uint64_t>> vertices_;
  // By a hash that equal values share.
  PartedTable<absl::flat_hash_map<uint64_t, ValueList>> others_;
  size_t moved_ = 0;
  Counted room_;
};

}  // namespace koios::engine
