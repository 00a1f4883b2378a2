// What a query has taken so far, by operator: each of its workers tells its own numbers at the ends
// of its slices, any thread reads their sums, and nobody waits for anybody. What is read together
// need not be of one moment.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "engine/engine.h"

namespace koios::engine {

class LiveNumbers {
 public:
  // Bytes of each operator at each worker.
  static constexpr size_t kOperatorBytes = std::size(kStatFields) * sizeof(uint64_t);

  LiveNumbers() = default;
  ~LiveNumbers() { delete told_.load(); }
  LiveNumbers(const LiveNumbers&) = delete;
  LiveNumbers& operator=(const LiveNumbers&) = delete;

  // Before a worker tells anything; each does so, with the same numbers.
  void Prepare(uint32_t num_workers, size_t num_operators);
  // By this worker alone. REQUIRES: Prepare; worker and op are below its numbers.
  void Tell(uint32_t worker, uint32_t op, const OperatorStats& stats);

  // Over all workers. Nothing before somebody has prepared it.
  std::vector<OperatorStats> Operators() const;
  // Of all operators; of a field that is a sum.
  uint64_t Sum(uint64_t OperatorStats::*field) const;

  std::atomic<uint64_t> slices{0};
  std::atomic<uint64_t> disk_bytes{0};  // that it has there now

 private:
  using Operator = std::array<std::atomic<uint64_t>, std::size(kStatFields)>;
  struct Told {
    size_t num_operators;
    std::vector<Operator> all;  // worker by worker
  };

  std::atomic<Told*> told_{nullptr};
};

}  // namespace koios::engine
