// BeginSlots: how many of gRPC's threads may begin a query at once, each where it received it. One
// fewer than there are, so that somebody always reads from the clients: what comes meanwhile goes
// to the pool. Any thread.
#pragma once

#include <atomic>

namespace koios::server {

class BeginSlots {
 public:
  explicit BeginSlots(int num_slots) : free_(num_slots) {}

  bool TryTake() {
    if (free_.fetch_sub(1) > 0) return true;
    ++free_;
    return false;
  }
  void GiveBack() { ++free_; }

 private:
  std::atomic<int> free_;
};

}  // namespace koios::server
