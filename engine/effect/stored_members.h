// StoredMembers: the first members of a side-effect's bag, out of memory, in their order. They are
// given part by part, and stay until they are dropped. Nothing is asked of it once the query's
// operators are gone. One thread.
#pragma once

#include <cstddef>

#include "core/status.h"
#include "core/value.h"

namespace koios::engine {

class StoredMembers {
 public:
  virtual ~StoredMembers() = default;
  virtual size_t size() const = 0;
  // Stores some of members [begin, ...) of `members`; returns where the next one begins.
  // REQUIRES: begin < members.size().
  virtual StatusOr<size_t> Append(const ValueList& members, size_t begin) = 0;
  // Appends members from the `first` on, as many as one read gives. REQUIRES: first < size().
  virtual Status Read(size_t first, ValueList* members) const = 0;
  virtual void Drop() = 0;
};

}  // namespace koios::engine
