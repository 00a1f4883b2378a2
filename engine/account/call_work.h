// CallWork: what one call does to tables that grow, so that who waits for the worker waits for one
// call: keys that are looked for, and entries that are moved as parts of a table become full at
// about the same time. In units of a key that is there, some hundred nanoseconds of a large table.
#pragma once

#include <cstddef>

namespace koios::engine {

class CallWork {
 public:
  static constexpr size_t kMost = 1536;

  // `moved`: entries that all calls have moved; outlives this.
  explicit CallWork(const size_t* moved) : moved_(moved), before_(*moved) {}

  void Add(size_t units) { units_ += units; }
  bool is_over() const { return units_ + (*moved_ - before_) / kMovedOfUnit >= kMost; }

 private:
  static constexpr size_t kMovedOfUnit = 4;

  const size_t* const moved_;
  const size_t before_;
  size_t units_ = 0;
};

}  // namespace koios::engine
