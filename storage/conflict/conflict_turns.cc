#include "storage/conflict/conflict_turns.h"

#include <algorithm>
#include <utility>

namespace koios::storage {
namespace {

bool Conflicts(Claim one, Claim other) {
  return one == Claim::kWrite || other == Claim::kWrite || one != other;
}

}  // namespace

ConflictTurns::Ticket ConflictTurns::Take() {
  MutexLock lock(&mutex_);
  return ++last_;
}

bool ConflictTurns::Enter(Ticket ticket, std::span<const ClaimedKey> keys,
                          std::function<void()> go) {
  MutexLock lock(&mutex_);
  Member& member = members_[ticket];
  for (const ClaimedKey& claimed : keys) {
    auto [known, added] = claims_[claimed.key].try_emplace(ticket, claimed.claim);
    if (added) member.keys.push_back(claimed.key);
    if (known->second != claimed.claim) known->second = Claim::kWrite;  // it both guards and sets
  }
  if (MayRun(ticket, member)) return true;
  member.go = std::move(go);
  return false;
}

void ConflictTurns::Leave(Ticket ticket) {
  std::vector<std::function<void()>> next;
  {
    MutexLock lock(&mutex_);
    const auto member = members_.find(ticket);
    if (member == members_.end()) return;
    const std::vector<uint64_t> keys = std::move(member->second.keys);
    members_.erase(member);
    for (const uint64_t key : keys) {
      const auto claims = claims_.find(key);
      claims->second.erase(ticket);
      if (claims->second.empty()) {
        claims_.erase(claims);
        continue;
      }
      for (auto behind = claims->second.upper_bound(ticket); behind != claims->second.end();
           ++behind) {
        Member& waiting = members_.at(behind->first);
        if (waiting.go != nullptr && MayRun(behind->first, waiting)) {
          next.push_back(std::exchange(waiting.go, nullptr));
        }
        if (behind->second == Claim::kWrite) break;  // who is behind it waits for it
      }
    }
  }
  for (const std::function<void()>& go : next) go();
}

bool ConflictTurns::HasClaims() const {
  MutexLock lock(&mutex_);
  return !claims_.empty();
}

bool ConflictTurns::IsClaimedBefore(Ticket ticket, uint64_t key, Claim claim) const {
  MutexLock lock(&mutex_);
  return IsBehind(ticket, key, claim);
}

bool ConflictTurns::IsBehind(Ticket ticket, uint64_t key, Claim claim) const {
  const auto claims = claims_.find(key);
  if (claims == claims_.end()) return false;
  for (const auto& [other, claimed] : claims->second) {
    if (ticket != 0 && other >= ticket) return false;
    if (Conflicts(claim, claimed)) return true;
  }
  return false;
}

bool ConflictTurns::MayRun(Ticket ticket, const Member& member) const {
  for (const uint64_t key : member.keys) {
    if (IsBehind(ticket, key, claims_.at(key).at(ticket))) return false;
  }
  return true;
}

}  // namespace koios::storage
