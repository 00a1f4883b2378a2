#include "engine/sched/idle_watch.h"

#include <algorithm>
#include <utility>

namespace koios::engine {

void IdleWatch::Tell(uint32_t worker, uint64_t num_sent, uint64_t num_received,
                     std::optional<HeldRows> held) {
  words_[worker] = {num_sent, num_received, std::move(held)};
  if (std::find(workers_.begin(), workers_.end(), worker) == workers_.end()) {
    workers_.push_back(worker);
  }
}

std::optional<HeldRows> IdleWatch::Decide(const Before& before) {
  if (words_.size() < workers_.size()) return std::nullopt;
  uint64_t num_sent = 0;
  uint64_t num_received = 0;
  std::optional<HeldRows> first;
  for (const auto& [worker, word] : words_) {
    num_sent += word.num_sent;
    num_received += word.num_received;
    if (word.held && (!first || before(*word.held, *first))) first = word.held;
  }
  if (num_sent != num_received || !first) return std::nullopt;
  words_.clear();
  return first;
}

}  // namespace koios::engine
