#include "engine/exchange/live_numbers.h"

#include <algorithm>
#include <memory>

namespace koios::engine {

void LiveNumbers::Prepare(uint32_t num_workers, size_t num_operators) {
  static_assert(sizeof(Operator) == kOperatorBytes);
  if (told_.load(std::memory_order_acquire) != nullptr) return;
  std::unique_ptr<Told> made(
      new Told{num_operators, std::vector<Operator>(num_workers * num_operators)});
  Told* none = nullptr;
  if (told_.compare_exchange_strong(none, made.get(), std::memory_order_acq_rel)) {
    (void)made.release();
  }
}

void LiveNumbers::Tell(uint32_t worker, uint32_t op, const OperatorStats& stats) {
  Told& told = *told_.load(std::memory_order_acquire);
  Operator& own = told.all[worker * told.num_operators + op];
  for (size_t i = 0; i < own.size(); ++i) {
    own[i].store(stats.*kStatFields[i], std::memory_order_relaxed);
  }
}

std::vector<OperatorStats> LiveNumbers::Operators() const {
  const Told* const told = told_.load(std::memory_order_acquire);
  std::vector<OperatorStats> operators(told == nullptr ? 0 : told->num_operators);
  if (operators.empty()) return operators;
  for (size_t i = 0; i < told->all.size(); ++i) {
    OperatorStats stats;
    for (size_t field = 0; field < std::size(kStatFields); ++field) {
      stats.*kStatFields[field] = told->all[i][field].load(std::memory_order_relaxed);
    }
    operators[i % operators.size()].Add(stats);
  }
  return operators;
}

uint64_t LiveNumbers::Sum(uint64_t OperatorStats::*field) const {
  const Told* const told = told_.load(std::memory_order_acquire);
  if (told == nullptr) return 0;
  const auto* const found = std::find(std::begin(kStatFields), std::end(kStatFields), field);
  const auto index = static_cast<size_t>(found - std::begin(kStatFields));
  uint64_t sum = 0;
  for (const Operator& one : told->all) sum += one[index].load(std::memory_order_relaxed);
  return sum;
}

}  // namespace koios::engine
