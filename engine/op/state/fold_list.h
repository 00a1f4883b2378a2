// FoldList: a list in the making. A long one grows in pages, and becomes one list in many calls:
// what it has is not moved when it grows, and no call has all of it to do.
#pragma once

#include <memory>

#include "core/value.h"
#include "engine/account/charge_ahead.h"
#include "engine/account/paged_list.h"

namespace koios::engine {

class FoldList {
 public:
  // RESOURCE_EXHAUSTED when `charge` is refused, or it would be too deep.
  Status Add(const Value& value, int64_t bulk, ChargeAhead* charge);
  // A share of what is to do before Take(); true: that is all. Nothing is added any more.
  StatusOr<bool> Gather(ChargeAhead* charge);
  // Empty afterwards.
  StatusOr<Value> Take();

 private:
  // Of one that is not short.
  struct Long {
    PagedList<Value> pages;
    MembersExtent extent;  // of all
    ValueList whole;       // what has been moved there
    size_t num_moved = 0;  // pages
  };

  ValueList list_;  // the first ones
  std::unique_ptr<Long> long_;
};

}  // namespace koios::engine
