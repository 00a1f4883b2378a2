// ConflictTurns: the order in which requests of one graph that conflicted run again. A request that
// was refused takes a ticket and claims the keys that it conflicted on; it waits until nobody with
// a lower ticket claims them, and until it leaves, what others commit may not touch them. So a
// retry does not race with fresh requests, and the lowest ticket always gets through: there is no
// livelock, and no deadlock, as a claim is waited for in the order of tickets only.
// Thread-safe; a leaf: it calls nobody while it holds its lock. Bounded by its callers: a claim is
// held by a request under way, and has a bounded number of keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/mutex.h"

namespace koios::storage {

// How a commit touches a key; see ConflictKeys.
enum class Claim : uint8_t { kGuard, kSet, kWrite };

struct ClaimedKey {
  uint64_t key = 0;
  Claim claim = Claim::kWrite;
};

// Of one refusal. The others are met again.
inline constexpr size_t kMaxConflictsTold = 64;

class ConflictTurns {
 public:
  using Ticket = uint64_t;  // 0: none

  // A new ticket, behind all others.
  Ticket Take();
  // Claims the keys, too. Whether the request may run now; else `go` is called once when it may, by
  // a thread that leaves. REQUIRES: it is not waiting.
  bool Enter(Ticket ticket, std::span<const ClaimedKey> keys, std::function<void()> go);
  // Gives up its claims, and does not wait any more; again: nothing.
  void Leave(Ticket ticket);

  bool HasClaims() const;
  // Whether somebody with a lower ticket (0: with any) claims the key in a way that conflicts.
  bool IsClaimedBefore(Ticket ticket, uint64_t key, Claim claim) const;

 private:
  struct Member {
    std::vector<uint64_t> keys;
    std::function<void()> go;  // while it waits
  };
  bool IsBehind(Ticket ticket, uint64_t key, Claim claim) const KOIOS_REQUIRES(mutex_);
  bool MayRun(Ticket ticket, const Member& member) const KOIOS_REQUIRES(mutex_);

  mutable Mutex mutex_;
  Ticket last_ KOIOS_GUARDED_BY(mutex_) = 0;
  std::map<Ticket, Member> members_ KOIOS_GUARDED_BY(mutex_);
  // By key: who claims it how, the strongest claim of each.
  std::unordered_map<uint64_t, std::map<Ticket, Claim>> claims_ KOIOS_GUARDED_BY(mutex_);
};

// Of a request that may run again: who commits; after a refusal, which keys were in the way, and
// the turns to enter with them. No keys: there is nothing to wait for.
struct CommitTurn {
  ConflictTurns::Ticket ticket = 0;
  std::vector<ClaimedKey> conflicts;
  std::shared_ptr<ConflictTurns> turns;
};

}  // namespace koios::storage
