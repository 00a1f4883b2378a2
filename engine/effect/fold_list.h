// FoldList: a list in the making, of a fold() or of a group. A long one grows in pages, and becomes
// one list in many calls: what it has is not moved when it grows, and no call has all of it to do.
#pragma once

#include <memory>

#include "core/value.h"
#include "engine/account/charge_ahead.h"
#include "core/memory/paged_list.h"
#include "engine/account/values_left.h"

namespace koios::engine {

class FoldList {
 public:
  // RESOURCE_EXHAUSTED when `charge` is refused, or it would be too deep: nothing is added.
  Status Add(const Value& value, int64_t bulk, ChargeAhead* charge);
  // Of a row, at most `bulk` times, as one step; how often. `again`: copies of it are there
  // already, which share what it holds. Adds to *work.
  StatusOr<int64_t> AddSome(const Value& value, int64_t bulk, bool again, ChargeAhead* charge,
                            size_t* work);
  // A share of what is to do before Take(); true: that is all. Nothing is added any more.
  StatusOr<bool> Gather(ChargeAhead* charge);
  bool is_long() const { return long_ != nullptr; }
  // Empty afterwards.
  StatusOr<Value> Take();
  // In one call; what that allocates is the caller's to charge. REQUIRES: nothing was gathered.
  StatusOr<Value> Copy() const;
  // At most so many more of its values to the end of those that are there; true: these are all.
  // Likewise.
  bool CopySome(size_t most, ValueList* copy, MembersExtent* extent) const;
  // Instead of Gather() and Take(): about a page of its values, from the first one on. False: that
  // was the last.
  bool TakePage(ValueList* page);
  // All of it, instead of freeing it.
  void Leave(ValuesLeft* left);

 private:
  // Of one that is not short.
  struct Long {
    PagedList<Value> pages;
    MembersExtent extent;  // of these
    ValueList whole;       // what has been moved there
    size_t num_moved = 0;  // pages
  };

  Status AddCopies(const Value& value, int64_t bulk, ChargeAhead* charge);

  ValueList list_;  // the first ones
  std::unique_ptr<Long> long_;
};

}  // namespace koios::engine
