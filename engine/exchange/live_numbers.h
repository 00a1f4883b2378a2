// What a query has taken so far, by operator: its workers add to it at the ends of their slices,
// any thread reads it, and nobody waits for anybody. What is read together need not be of one
// moment.
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
  // Bytes of each operator.
  static constexpr size_t kOperatorBytes = std::size(kStatFields) * sizeof(uint64_t);

  LiveNumbers() = default;
  ~LiveNumbers() { delete operators_.load(); }
  LiveNumbers(const LiveNumbers&) = delete;
  LiveNumbers& operator=(const LiveNumbers&) = delete;

  // Before a worker adds anything; each does so, with the same number.
  void Prepare(size_t num_operators);
  // Of a worker, whose numbers of this operator were `before` when it last said so. REQUIRES:
  // Prepare, op < num_operators.
  void Add(uint32_t op, const OperatorStats& before, const OperatorStats& now);

  // Nothing before somebody has prepared it.
  std::vector<OperatorStats> Operators() const;
  OperatorStats Sum() const;

  std::atomic<uint64_t> slices{0};
  std::atomic<uint64_t> disk_bytes{0};  // that it has there now

 private:
  using Operator = std::array<std::atomic<uint64_t>, std::size(kStatFields)>;

  std::atomic<std::vector<Operator>*> operators_{nullptr};
};

}  // namespace koios::engine
