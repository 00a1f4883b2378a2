// Folded: what fold(seed, operator) has folded so far. What addAll adds to grows in pages, and keys
// are found by hash: a step costs what it adds, not what is there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/value.h"
#include "engine/account/charge_ahead.h"
#include "engine/account/leftover.h"
#include "engine/effect/fold_list.h"
#include "engine/effect/fold_operator.h"
#include "engine/effect/group_table.h"

namespace koios::engine {

class Folded {
 public:
  // REQUIRES: there is such an operator (CanFold).
  Folded(const std::string& name, Value seed);
  static bool CanFold(const std::string& name);

  // Folds in the value, of one row, at most `bulk` times, and returns how often: 0 when the call
  // has enough to do, and the same comes again. `again`: copies of it are there already. Adds to
  // *work. INVALID_ARGUMENT for what the operator does not know.
  StatusOr<int64_t> Add(const Value& value, int64_t bulk, bool again, ChargeAhead* charge,
                        size_t* work);
  // A share of what is to do before Take(); true: that is all. Nothing is added any more.
  StatusOr<bool> Gather(ChargeAhead* charge);
  StatusOr<Value> Take();
  // What it has still, instead of freeing it.
  std::unique_ptr<Leftover> Leave();

 private:
  StatusOr<int64_t> Fold(const Value& value, int64_t bulk, ChargeAhead* charge, size_t* work);
  Status AddKey(const Value& key, const std::optional<Value>& value, ChargeAhead* charge,
                size_t* work);
  template <typename All, typename AddOne>
  StatusOr<bool> AddSome(const All& all, const AddOne& add);
  StatusOr<bool> AddSeed(ChargeAhead* charge, size_t* work);
  StatusOr<bool> AddEntries(const ValueMap& entries, ChargeAhead* charge, size_t* work);
  StatusOr<bool> AddMembers(const ValueList& members, ChargeAhead* charge, size_t* work);
  StatusOr<bool> GatherSet(ChargeAhead* charge);
  StatusOr<bool> GatherMap(ChargeAhead* charge);

  const FoldOperator fold_;  // nullptr: addAll
  Value value_;              // where it begins; but with addAll, what it is
  size_t next_ = 0;          // of what is added, or gathered, in parts
  bool has_seed_ = false;
  // With addAll: what becomes a list, or keys of what becomes a set or a map.
  FoldList list_;
  std::unique_ptr<GroupTable> table_;
  ValueList members_;  // gathered
  ValueMap entries_;
  MembersExtent extent_;
};

}  // namespace koios::engine
