// Accounts of memory: operator -> query -> process. A charge goes up the chain of parents; a limit
// anywhere on the chain refuses it, and then nothing has been charged.
// Rule: charge before allocating; what was charged is released by whoever charged it.
// An account may have a reserve: bytes of its parent that are its own from the start until it is
// gone, whether it uses them or not. What it charges is drawn from them first, and is never refused
// by a parent.
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

// What a refusal says of the limit that refused.
struct LimitWords {
  std::string reason = "MEMORY_LIMIT";
  std::string setting;  // that changes it
  std::string hint;
};

class MemoryAccount {
 public:
  // Accounts with at most this much are small. What a parent keeps for the small, the others don't
  // get: one that needs little is not refused because of those that need much.
  static constexpr int64_t kSmallBytes = int64_t{1} << 20;

  // `parent` may be null. REQUIRES: limit_bytes >= 0.
  explicit MemoryAccount(std::string name, int64_t limit_bytes = kNoMemoryLimit,
                         MemoryAccount* parent = nullptr, LimitWords words = {});
  // What is still charged is given back to the parent. REQUIRES: nobody charges any more.
  ~MemoryAccount();
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  // Takes a reserve. False, with nothing taken, when a parent has no room for it.
  // REQUIRES: nobody charges yet, and there is none yet; 0 <= bytes <= limit.
  [[nodiscard]] bool TryReserve(int64_t bytes);
  // False, with nothing charged, when this or a parent's limit would be passed.
  [[nodiscard]] bool TryCharge(int64_t bytes);
  // Past the limit if need be: for what exists already and can't be refused.
  void Charge(int64_t bytes);
  void Release(int64_t bytes);

  // For tests: of the charges that may be refused the k-th and `more` behind it are. Set before
  // anybody charges, it counts them; kNeverRefused: and refuses none.
  static constexpr uint64_t kNeverRefused = std::numeric_limits<uint64_t>::max();
  void RefuseCharges(uint64_t k, uint64_t more) {
    refuse_from_ = k;
    refuse_more_ = more;
  }
  uint64_t charges() const { return charges_.load(std::memory_order_relaxed); }

  // Of this account's limit. REQUIRES: before anybody charges; 0 <= bytes <= limit.
  void KeepForSmall(int64_t bytes) { kept_for_small_ = bytes; }

  // It is time to need less: more than half of the limit is used, or more than the reserve and
  // three quarters of a parent's.
  bool IsTight() const;
  bool IsHalfUsed() const { return used() > limit_ / 2; }

  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  int64_t limit() const { return limit_; }
  int64_t reserved() const { return reserved_; }
  const std::string& name() const { return name_; }

  // RESOURCE_EXHAUSTED for a refused charge: names the account of the chain that refuses `bytes`,
  // its limit, what was asked for and the setting that changes it. `step`: of the query, if known.
  Status OverLimit(int64_t bytes, std::string_view step = {}) const;

 private:
  int64_t AddUsed(int64_t bytes);  // what is used then
  bool TryChargeWithin(int64_t bytes, int64_t limit);
  // What a parent has of an account that uses so much.
  int64_t AtParent(int64_t used) const { return used > reserved_ ? used : reserved_; }
  // The limit for an account below that would have `child_used`.
  int64_t LimitFor(int64_t child_used) const {
    return child_used <= kSmallBytes ? limit_ : limit_ - kept_for_small_;
  }

  const std::string name_;
  const LimitWords words_;
  const int64_t limit_;
  int64_t kept_for_small_ = 0;
  int64_t reserved_ = 0;
  uint64_t refuse_from_ = 0;  // 0: nobody counts
  uint64_t refuse_more_ = 0;
  std::atomic<uint64_t> charges_{0};
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
  // Owns what is charged to the account already.
  MemoryCharge(MemoryAccount* account, int64_t charged) : account_(account), bytes_(charged) {}
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
