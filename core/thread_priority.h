// What a thread tells the system of itself. Linux alone; any thread, for itself.
#pragma once

namespace koios {

// It computes for long, as a query's worker does: of all threads that wait for a processor those
// that answer clients, and have little to do, go first, and it has its turns in longer stretches.
// Its weight is a third of what it was (nice + 5), and its slice is 10 ms, so that a thread with
// the usual one, which is shorter, takes the processor from it when it wakes (EEVDF with custom
// slices: Linux 6.12 and later; earlier ones ignore it). Where the system refuses, nothing changes.
void ComputesForLong();

}  // namespace koios
