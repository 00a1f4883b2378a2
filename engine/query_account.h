// The accounts of memory that queries charge: one per process, and below it one per query. What
// they say when they refuse is said here, once.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "core/memory.h"

namespace koios::engine {

// `limit_bytes`: 0 is none. `all`: the account of all queries; may be null.
std::shared_ptr<MemoryAccount> MakeQueryAccount(uint64_t limit_bytes, MemoryAccount* all = nullptr);
// Bytes that are charged already: given back when whoever holds them is done.
class HeldCharge {
 public:
  HeldCharge(std::shared_ptr<MemoryAccount> account, size_t bytes)
      : account_(std::move(account)), bytes_(static_cast<int64_t>(bytes)) {}
  ~HeldCharge() { account_->Release(bytes_); }
  HeldCharge(const HeldCharge&) = delete;
  HeldCharge& operator=(const HeldCharge&) = delete;

 private:
  const std::shared_ptr<MemoryAccount> account_;
  const int64_t bytes_;
};

// Why it refuses.
inline constexpr char kProcessMemory[] = "PROCESS_MEMORY";
// An eighth is kept for queries that need little.
std::unique_ptr<MemoryAccount> MakeAccountOfAllQueries(uint64_t limit_bytes);

}  // namespace koios::engine
