// What a thread tells the system of itself. Linux alone; any thread, for itself.
#pragma once

#include <cstdint>

namespace koios {

// It computes for long, as a query's worker does: of all threads that wait for a processor those
// that answer clients, and have little to do, go first, and it has its turns in longer stretches.
// Its weight is a third of what it was (nice + 5), and its slice is 10 ms, so that a thread with
// the usual one, which is shorter, takes the processor from it when it wakes (EEVDF with custom
// slices: Linux 6.12 and later; earlier ones ignore it). Where the system refuses, nothing changes.
void ComputesForLong();

// Of such a thread: who waits for a processor, to answer a client or to run a short query, has it
// soon, and not when the system's own slice is over, which is many times as long.
class Yields {
 public:
  // It has computed for so long again.
  void Ran(int64_t nanos);
  // It has waited: others have had the processor.
  void Waited() { since_ = 0; }

 private:
  int64_t since_ = 0;  // nanoseconds, since others had it
};

}  // namespace koios
