// What a thread tells the system of itself. Linux alone; any thread, for itself.
#pragma once

#include <cstdint>

namespace koios {

// It computes for long: of all threads that wait for a processor those that answer clients, and
// have little to do, go first, and it has its turns in longer stretches. Its weight is a third of
// what it was (nice + 5), and its slice is 10 ms, so that a thread with the usual one, which is
// shorter, takes the processor from it when it wakes (EEVDF with custom slices: Linux 6.12 and
// later; earlier ones ignore it). Where the system refuses, nothing changes.
void ComputesForLong();

// The same at some times, and as it began at others. Only the slice where the thread could not have
// its weight back. REQUIRES: made and used by that thread.
class ThreadWeight {
 public:
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

// A thread that computes for long at some times, as a query's worker does, and answers short
// queries at others: with these it must not wait behind whoever asks. Which it is shows what it did
// in the last window: where it waited for less than half of that, it computes for long,
// and yields.
// REQUIRES: made and used by that thread.
class ComputingThread {
 public:
  static constexpr int64_t kWindowNanos = 20'000'000;

  ComputingThread();
  // It has computed for so long again.
  void Ran(int64_t nanos);
  // It has had nothing to do for so long.
  void Waited(int64_t nanos);
  bool computes_for_long() const { return weight_.is_for_long(); }

 private:
  void Decide();

  ThreadWeight weight_;
  Yields yields_;
  int64_t ran_ = 0, waited_ = 0;  // of this window
  int64_t used_;                  // processor time until it began
};

}  // namespace koios
