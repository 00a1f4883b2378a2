#include "engine/sched/flow/credits.h"

#include <algorithm>
#include <utility>

#include "core/memory/charged_growth.h"
#include "engine/batch/batch.h"

namespace koios::engine {
namespace {

// How many frames an allotment has, at least, unless they would be smaller than is worth a frame.
constexpr size_t kFramesOfAllotment = 4;
constexpr size_t kLeastFrameBytes = 1024;

}  // namespace

SendCredits::SendCredits(uint32_t num_workers, size_t credit_bytes)
    : allotment_(credit_bytes / num_workers),
      frame_bytes_(std::clamp(allotment_ / kFramesOfAllotment, kLeastFrameBytes, kBatchBytes)),
      used_(num_workers, 0),
      waiting_(num_workers, false) {}

bool SendCredits::TryTake(uint32_t to, size_t bytes) {
  if (bytes > allotment_ - used_[to]) {
    waiting_[to] = true;
    return false;
  }
  used_[to] += bytes;
  return true;
}

bool SendCredits::TakeWaiting(uint32_t to) {
  const bool waiting = waiting_[to];
  waiting_[to] = false;
  return waiting;
}

ReceiveCredits::ReceiveCredits(uint32_t num_workers, size_t credit_bytes, size_t depth_slots)
    : allotment_(credit_bytes / num_workers), depth_slots_(depth_slots), used_(num_workers, 0) {}

bool ReceiveCredits::Receive(uint32_t from, size_t bytes) {
  if (bytes > allotment_ - used_[from]) return false;
  used_[from] += bytes;
  return true;
}

bool ReceiveCredits::Wait(const Depth& depth, Ask ask) {
  Waiting& waiting = asks_[depth];
  Fifo<uint32_t>& senders = waiting.senders;
  if (std::find(senders.begin(), senders.end(), ask.from) != senders.end()) return false;
  waiting.op = ask.op;
  waiting.loops = std::move(ask.loops);
  waiting.merging = ask.merging;
  senders.push_back(ask.from);
  return true;
}

std::optional<ReceiveCredits::Ask> ReceiveCredits::Grant() {
  for (auto it = asks_.begin(); it != asks_.end(); ++it) {
    const auto slot = slots_.find(it->first);
    if (slot == slots_.end()) {
      if (slots_.size() >= depth_slots_) continue;
      return Give(it, 0);
    }
    if (!it->second.merging) continue;
    const Fifo<uint32_t>& senders = it->second.senders;
    for (size_t i = 0; i < senders.size(); ++i) {
      const auto holds = [&](const Holder& holder) { return holder.from == senders[i]; };
      if (std::none_of(slot->second.begin(), slot->second.end(), holds)) return Give(it, i);
    }
  }
  return std::nullopt;
}

// One at a time: what was granted has come, and has not helped.
std::optional<ReceiveCredits::Ask> ReceiveCredits::GrantOverdraft(
    const std::function<bool(const Ask&)>& deeper) {
  if (asks_.empty() || under_way_ > 0) return std::nullopt;
  const auto deepest = asks_.begin();
  const Waiting& waiting = deepest->second;
  if (slots_.contains(deepest->first) ||
      !deeper({waiting.senders.front(), waiting.op, waiting.loops, waiting.merging})) {
    return std::nullopt;
  }
  return Give(deepest, 0);
}

ReceiveCredits::Ask ReceiveCredits::Give(Asks::iterator waiting, size_t sender) {
  Waiting& asks = waiting->second;
  const Ask granted{asks.senders[sender], asks.op, asks.loops, asks.merging};
  slots_[waiting->first].push_back({granted.from, false});
  ++under_way_;
  std::rotate(asks.senders.begin(), asks.senders.begin() + static_cast<std::ptrdiff_t>(sender),
              asks.senders.begin() + static_cast<std::ptrdiff_t>(sender) + 1);
  asks.senders.pop_front();
  if (asks.senders.empty()) asks_.erase(waiting);
  return granted;
}

std::vector<ReceiveCredits::Holder>::iterator ReceiveCredits::Find(std::vector<Holder>* holders,
                                                                   uint32_t from, bool has_come) {
  return std::find_if(holders->begin(), holders->end(), [&](const Holder& holder) {
    return holder.from == from && holder.has_come == has_come;
  });
}

bool ReceiveCredits::ReceiveGranted(const Depth& depth, uint32_t from) {
  const auto slot = slots_.find(depth);
  if (slot == slots_.end()) return false;
  const auto holder = Find(&slot->second, from, false);
  if (holder == slot->second.end()) return false;
  holder->has_come = true;
  --under_way_;
  return true;
}

bool ReceiveCredits::Free(const Depth& depth, uint32_t from, bool has_come) {
  const auto slot = slots_.find(depth);
  if (slot == slots_.end()) return false;
  const auto holder = Find(&slot->second, from, has_come);
  if (holder == slot->second.end()) return false;
  slot->second.erase(holder);
  if (slot->second.empty()) slots_.erase(slot);
  return true;
}

size_t ReceiveCredits::ByteSize() const {
  const size_t ask = sizeof(*asks_.begin()) + kTreeNodeBytes + used_.size() * sizeof(uint32_t);
  const size_t slot = sizeof(*slots_.begin()) + kTreeNodeBytes + sizeof(Holder);
  return asks_.size() * ask + slots_.size() * slot;
}

void ReceiveCredits::DoneGranted(const Depth& depth, uint32_t from) {
  (void)Free(depth, from, /*has_come=*/true);
}

bool ReceiveCredits::ReturnGrant(const Depth& depth, uint32_t from) {
  if (!Free(depth, from, /*has_come=*/false)) return false;
  --under_way_;
  return true;
}

}  // namespace koios::engine
