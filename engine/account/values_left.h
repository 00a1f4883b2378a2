// ValuesLeft: values that nobody needs any more, and that take long to free: maps of a million
// entries, lists of as many texts. They are freed in shares, so that who waits for the worker waits
// for one share at most. What a query leaves as a whole is the Reaper's.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "core/value.h"

namespace koios::engine {

class ValuesLeft {
 public:
  // What is less is freed where it is.
  static constexpr int64_t kLeastBytes = int64_t{1} << 20;

  void Add(ValueList list) { lists_.emplace_back(std::move(list)); }
  void Add(ValueMap map) { lists_.emplace_back(std::move(map)); }
  // Some 100 microseconds of work: values are taken apart where nobody else has them. Adds the
  // bytes that this frees. True: nothing is left.
  bool FreeSome(int64_t* freed);

 private:
  // Takes the value apart, or frees it. Returns how many bytes of it are free, beside its place.
  size_t Free(Value value);

  std::vector<std::variant<ValueList, ValueMap>> lists_;  // the last one is freed first
};

}  // namespace koios::engine
