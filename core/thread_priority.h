// What a thread tells the system of itself. Linux alone; any thread, for itself.
#pragma once

#include <cstdint>

namespace koios {

// It computes for long: of all threads that wait for a processor those that answer clients, and
// have little to do, go first, and it has its turns in longer stretches. Its weight is a third of
// what it was (nice + 5), and its slice is 10 ms, so that a thread with the usual one, which is
// shorter, takes the processor from it when it wakes (EEVDF with custom slices: Linux 6.12 and
// later; earlier ones ignore it). What it costs: beside a program that computes as well each yield
// gives a slice away (bench/TARGETS.md). Where the system refuses, nothing changes.
void ComputesForLong();

// The same while the thread is at a long query, and as it began while it is at short ones: with
// these it must not wait behind whoever asks. Only the slice where it could not have its weight
// back. REQUIRES: made and used by that thread.
class ThreadWeight {
 public:
  // A query that has had so much time of such threads is long to them.
  static constexpr uint64_t kLongNanos = 5'000'000;

  ThreadWeight();
  void Set(bool for_long);
  bool is_for_long() const { return for_long_; }

 private:
  const int32_t nice_;      // that it began with
  const bool may_go_back_;  // to it
  bool for_long_ = false;
};

// Of a thread that computes for long: who waits for a processor, to answer a client or to run a
// short query, has it soon, and not when the system's own slice is over, which is many times as
// long.
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
