// IdleWatch: at the coordinator of a query that has spread: when may rows that a Merge holds back
// go on? Not while others may still come to meet them: a worker that has nothing else to do says
// so, with the frames of rows that it has sent and received. When these are equal over all that
// have spoken, none is under way, and the Merge nearest to the source gives its rows everywhere.
// Counting messages is Mattern's (Algorithms for Distributed Termination Detection, 1987), with one
// wave instead of two: a wrong guess costs merges, never an answer. Touched by one worker only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "engine/batch/batch.h"

namespace koios::engine {

// Rows of one iteration that a Merge holds.
struct HeldRows {
  uint32_t op = 0;
  Loops loops;
  bool operator==(const HeldRows&) const = default;
};

class IdleWatch {
 public:
  using Before = std::function<bool(const HeldRows&, const HeldRows&)>;

  // What a worker has said last counts.
  void Tell(uint32_t worker, uint64_t num_sent, uint64_t num_received,
            std::optional<HeldRows> held);
  // What may go on now, the first by `before`; forgets what was said, so that all speak again.
  std::optional<HeldRows> Decide(const Before& before);
  // Who has spoken since the watch began.
  const std::vector<uint32_t>& workers() const { return workers_; }

 private:
  struct Word {
    uint64_t num_sent = 0;
    uint64_t num_received = 0;
    std::optional<HeldRows> held;
  };
  std::map<uint32_t, Word> words_;
  std::vector<uint32_t> workers_;
};

}  // namespace koios::engine
