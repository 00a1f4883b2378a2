// CallWork: what one call does to tables that grow, so that who waits for the worker waits for one
// call: keys that are looked for, and entries that are moved as parts of a table become full at
// about the same time. In units of a key that is there, some hundred nanoseconds of a large table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/value.h"
#include "engine/account/charge_ahead.h"

namespace koios::engine {

// Where in a batch a call has stopped: a row, and how many of its traversers are done.
struct RowPlace {
  size_t row = 0;
  int64_t copy = 0;
  bool operator==(const RowPlace&) const = default;
};

// Of a row that is many values of a list: how many of them one step adds, and how many are a unit
// of work.
constexpr int64_t kMostCopies = 16 * 1024;
constexpr int64_t kCopiesPerWork = 8;

// Of so many that are left. RESOURCE_EXHAUSTED, before the first, when there is no room for all.
inline StatusOr<int64_t> CopiesOfStep(int64_t left, ChargeAhead* charge) {
  if (left <= kMostCopies) return left;
  RETURN_IF_ERROR(charge->Check(BytesOfMany(left, sizeof(Value))));
  return kMostCopies;
}

// Its copies share what the value holds: those behind the first step's have charged it once more.
inline void ReturnShared(const Value& value, ChargeAhead* charge) {
  charge->Return(static_cast<int64_t>(value.ByteSize() - sizeof(Value)));
}

// So many entries of a table were moved: many parts of one become full at about the same time.
inline void SpendMoved(size_t moved, size_t* work) {
  constexpr size_t kMovedPerWork = 2;
  *work -= std::min(*work, moved / kMovedPerWork);
}

class CallWork {
 public:
  static constexpr size_t kMost = 512;

  // `moved`: entries that all calls have moved; outlives this.
  explicit CallWork(const size_t* moved) : moved_(moved), before_(*moved) {}

  void Add(size_t units) { units_ += units; }
  // A key that has so much in it to hash, and to look at.
  void AddLarge(const Value& key) { units_ += key.FlatBytes() / kBytesOfUnit; }
  bool is_over() const { return units_ + (*moved_ - before_) / kMovedOfUnit >= kMost; }

 private:
  static constexpr size_t kMovedOfUnit = 4;
  static constexpr size_t kBytesOfUnit = 64;

  const size_t* const moved_;
  const size_t before_;
  size_t units_ = 0;
};

}  // namespace koios::engine
