// Accounts of memory: operator -> query -> process. A charge goes up the chain of parents; a limit
// anywhere on the chain refuses it, and then nothing has been charged.
// Rule: charge before allocating; what was charged is released by whoever charged it.
// Any thread may charge and release; a parent outlives its children.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "core/status.h"

namespace koios {

inline constexpr int64_t kNoMemoryLimit = std::numeric_limits<int64_t>::max();

class MemoryAccount {
 public:
  // `parent` may be null. REQUIRES: limit_bytes >= 0.
  explicit MemoryAccount(std::string name, int64_t limit_bytes = kNoMemoryLimit,
                         MemoryAccount* parent = nullptr);
  // What is still charged is given back to the parent. REQUIRES: nobody charges any more.
  ~MemoryAccount();
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  // False, with nothing charged, when this or a parent's limit would be passed.
  [[nodiscard]] bool TryCharge(int64_t bytes);
  // Past the limit if need be: for what exists already and can't be refused.
  void Charge(int64_t bytes);
  void Release(int64_t bytes);

  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  int64_t limit() const { return limit_; }
  const std::string& name() const { return name_; }

  // RESOURCE_EXHAUSTED for a refused charge: names the account of the chain that refuses `bytes`,
  // its limit and what was asked for. `setting`: the setting that changes it.
  Status OverLimit(int64_t bytes, std::string_view setting) const;

 private:
  void AddUsed(int64_t bytes);

  const std::string name_;
  const int64_t limit_;
  MemoryAccount* const parent_;
  std::atomic<int64_t> used_{0};
  std::atomic<int64_t> peak_{0};
};

// Owns a charge and releases it at its end. Not thread-safe; moved, not copied.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  // Owns nothing yet.
  explicit MemoryCharge(MemoryAccount* account) : account_(account) {}
  MemoryCharge(MemoryCharge&& other) noexcept;
  MemoryCharge& operator=(MemoryCharge&& other) noexcept;
  ~MemoryCharge() { Reset(); }

  // To own `bytes` in all. False, with nothing changed, when the account refuses.
  // REQUIRES: constructed with an account.
  [[nodiscard]] bool TryResize(int64_t bytes);
  void Resize(int64_t bytes);  // past the limit if need be
  void Reset() { Resize(0); }
  int64_t bytes() const { return bytes_; }

 private:
  MemoryAccount* account_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace koios
