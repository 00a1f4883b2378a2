#include "engine/exchange/live_numbers.h"

#include <memory>

namespace koios::engine {

void LiveNumbers::Prepare(size_t num_operators) {
  static_assert(sizeof(Operator) == kOperatorBytes);
  if (operators_.load(std::memory_order_acquire) != nullptr) return;
  auto made = std::make_unique<std::vector<Operator>>(num_operators);
  std::vector<Operator>* none = nullptr;
  if (operators_.compare_exchange_strong(none, made.get(), std::memory_order_acq_rel)) {
    (void)made.release();
  }
}

void LiveNumbers::Add(uint32_t op, const OperatorStats& before, const OperatorStats& now) {
  Operator& all = (*operators_.load(std::memory_order_acquire))[op];
  for (size_t i = 0; i < all.size(); ++i) {
    const auto field = kStatFields[i];
    if (now.*field == before.*field) continue;
    if (field == &OperatorStats::longest_ns) {
      uint64_t most = all[i].load(std::memory_order_relaxed);
      while (now.*field > most &&
             !all[i].compare_exchange_weak(most, now.*field, std::memory_order_relaxed)) {
      }
    } else {
      // What has become less is added modulo 2^64.
      all[i].fetch_add(now.*field - before.*field, std::memory_order_relaxed);
    }
  }
}

std::vector<OperatorStats> LiveNumbers::Operators() const {
  const std::vector<Operator>* const all = operators_.load(std::memory_order_acquire);
  std::vector<OperatorStats> operators(all == nullptr ? 0 : all->size());
  for (size_t op = 0; op < operators.size(); ++op) {
    for (size_t i = 0; i < std::size(kStatFields); ++i) {
      operators[op].*kStatFields[i] = (*all)[op][i].load(std::memory_order_relaxed);
    }
  }
  return operators;
}

OperatorStats LiveNumbers::Sum() const {
  OperatorStats sum;
  for (const OperatorStats& one : Operators()) sum.Add(one);
  return sum;
}

}  // namespace koios::engine
