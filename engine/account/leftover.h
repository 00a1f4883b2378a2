// Leftover: what nobody needs any more and takes long to free: maps of a million entries, tables of
// as many keys. It is freed in shares, so that who waits for the worker waits for one share at
// most. What a query leaves as a whole is the Reaper's.
#pragma once

#include <cstdint>
#include <memory>

#include "core/memory.h"

namespace koios::engine {

class Leftover {
 public:
  // What is less is freed where it is.
  static constexpr int64_t kLeastBytes = int64_t{1} << 20;

  virtual ~Leftover() = default;
  // Some 100 microseconds of work. Adds the bytes that this frees. True: nothing is left.
  virtual bool FreeSome(int64_t* freed) = 0;
};

class LeftoverTaker {
 public:
  virtual ~LeftoverTaker() = default;
  // Frees it before anything else of the query goes on here, with what is charged for it.
  virtual void Take(std::unique_ptr<Leftover> leftover, MemoryCharge charge) = 0;
};

}  // namespace koios::engine
