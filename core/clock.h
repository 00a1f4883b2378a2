// Time as an interface, so that simulations and tests decide what time it is. Monotonic: only
// differences mean something. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace koios {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t NowNanos() const = 0;
};

// std::chrono::steady_clock.
class SteadyClock : public Clock {
 public:
  int64_t NowNanos() const override;
  // One for the process.
  static const SteadyClock* Get();
};

// Stands still until it is told to move.
class ManualClock : public Clock {
 public:
  explicit ManualClock(int64_t now_nanos = 0) : now_nanos_(now_nanos) {}
  int64_t NowNanos() const override { return now_nanos_.load(std::memory_order_relaxed); }
  void Advance(int64_t nanos) { now_nanos_.fetch_add(nanos, std::memory_order_relaxed); }
  void Set(int64_t now_nanos) { now_nanos_.store(now_nanos, std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> now_nanos_;
};

}  // namespace koios
