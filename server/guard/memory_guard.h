// MemoryGuard: keeps what the process has resident within its bound, for all that no account sees:
// fragments, copies in flight, what gRPC and the libraries hold. It looks a few times a second;
// what is resident beyond the accounts and the room meant for the rest is charged to the account of
// all queries, so that queries are refused before the machine refuses the process. Freed memory is
// given back first.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "core/memory.h"
#include "core/mutex.h"

namespace koios::server {

struct MemoryGuardOptions {
  int64_t rest_bytes = 0;  // that may be resident beside what the account has, from the start on
  std::function<uint64_t()> resident;
  std::function<int64_t()> unused;  // of what the account has: reserved, not yet drawn; null: none
  std::function<void()> give_back;
  std::function<void()> look;            // behind each look; null: nothing
  std::chrono::milliseconds period{50};  // 0: only Look() looks
};

class MemoryGuard {
 public:
  // `account` outlives the guard.
  MemoryGuard(MemoryAccount* account, MemoryGuardOptions options);
  ~MemoryGuard();
  MemoryGuard(const MemoryGuard&) = delete;
  MemoryGuard& operator=(const MemoryGuard&) = delete;

  void Look();
  int64_t charged() const;

 private:
  int64_t Excess() const KOIOS_REQUIRES(mutex_);
  void Run();

  MemoryAccount* const account_;
  const MemoryGuardOptions options_;
  const int64_t at_start_;  // resident before anything was done

  mutable Mutex mutex_;
  CondVar wake_;
  bool closing_ KOIOS_GUARDED_BY(mutex_) = false;
  MemoryCharge charge_ KOIOS_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace koios::server
