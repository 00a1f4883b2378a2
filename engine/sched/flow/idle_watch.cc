#include "engine/sched/flow/idle_watch.h"

#include <algorithm>
#include <utility>

namespace koios::engine {

void IdleWatch::Tell(uint32_t worker, FrameCounts counts, std::optional<HeldRows> held) {
  words_[worker] = {std::move(counts), std::move(held)};
  if (std::find(workers_.begin(), workers_.end(), worker) == workers_.end()) {
    workers_.push_back(worker);
  }
}

// Who was sent a frame and has not spoken has not received it.
bool IdleWatch::AllHaveCome() const {
  for (const auto& [from, word] : words_) {
    for (uint32_t to = 0; to < word.counts.sent_to.size(); ++to) {
      const auto other = words_.find(to);
      const uint64_t come =
          other == words_.end() ? 0 : FrameCounts::At(other->second.counts.received_from, from);
      if (word.counts.sent_to[to] != come) return false;
    }
  }
  return true;
}

std::optional<HeldRows> IdleWatch::Decide(const Before& before) {
  if (words_.size() < workers_.size() || !AllHaveCome()) return std::nullopt;
  std::optional<HeldRows> first;
  for (const auto& [worker, word] : words_) {
    if (word.held && (!first || before(*word.held, *first))) first = word.held;
  }
  if (!first) return std::nullopt;
  words_.clear();
  return first;
}

}  // namespace koios::engine
