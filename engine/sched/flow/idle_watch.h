// IdleWatch: at the coordinator of a query that has spread: when may rows that a Merge holds back
// go on? Not while others may still come to meet them: a worker that has nothing else to do says
// so, with the frames of rows that it has sent to each other one and received from it. When all
// that were sent have been received, none is under way, and the Merge nearest to the source gives
// its rows everywhere. This is Mattern's vector method (Algorithms for Distributed Termination
// Detection, 1987): sums instead of vectors are equal too early where workers send each other
// equally many. A wrong guess would cost merges, never an answer. Touched by one worker only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "engine/batch/batch.h"
#include "engine/exchange/frame.h"

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
  void Tell(uint32_t worker, FrameCounts counts, std::optional<HeldRows> held);
  // What may go on now, the first by `before`; forgets what was said, so that all speak again.
  std::optional<HeldRows> Decide(const Before& before);
  // Who has spoken since the watch began.
  const std::vector<uint32_t>& workers() const { return workers_; }

 private:
  bool AllHaveCome() const;

  struct Word {
    FrameCounts counts;
    std::optional<HeldRows> held;
  };
  std::map<uint32_t, Word> words_;
  std::vector<uint32_t> workers_;
};

}  // namespace koios::engine
