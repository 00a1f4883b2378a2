// Outbox: the lanes of the operator behind one Exchange that are at other workers, as far as this
// one fills them: what waits there for each worker and iteration. Rows are gathered into full
// batches; a batch leaves when it is full, or at a flush, and only while the receiver has
// acknowledged all but kWindow frames of its lane: that window is the query's bound on frames in
// flight. A lane per iteration keeps a loop free of deadlock: what is deepest never waits behind
// what is shallower (engine rule 16). Belongs to one query on one worker.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/batch/batch.h"
#include "engine/batch/by_iteration.h"
#include "engine/batch/fifo.h"

namespace koios::engine {

class Outbox {
 public:
  static constexpr uint32_t kWindow = 2;

  explicit Outbox(uint32_t num_workers) : lanes_(num_workers) {}

  // Adds rows of `source` at `picked`, with their runs (counts add up to picked.size()).
  void Add(uint32_t to, const Loops& iteration, const Batch& source,
           const std::vector<uint32_t>& picked, const std::vector<Run>& runs);
  // The iterations that hold something for `to`.
  std::vector<Loops> Waiting(uint32_t to);
  // The next batch that may leave: a full one, or any with `flush`. `local`: no window.
  bool Take(uint32_t to, const Loops& iteration, bool flush, bool local, Batch* batch);
  // Whether a batch may go there at once, as nothing is gathered and the window is open. It then
  // counts as in flight.
  bool Reserve(uint32_t to, const Loops& iteration);
  void Acknowledge(uint32_t to, const Loops& iteration);
  // A lane of this iteration holds a full batch: the Exchange takes no more of its input until that
  // has left.
  bool Blocked(const Loops& iteration) const;
  // A full batch waits for a window that is closed.
  bool IsStalled(uint32_t to, const Loops& iteration) const;
  bool Empty() const { return num_batches_ == 0; }
  // Of the rows that wait, about.
  size_t bytes() const { return bytes_; }

 private:
  struct Lane {
    Fifo<JoinedBatch> batches;
    uint32_t in_flight = 0;
    bool empty() const { return batches.empty() && in_flight == 0; }
    bool IsFull() const {
      return batches.size() > 1 || (batches.size() == 1 && batches.front().IsFull());
    }
  };

  std::vector<ByIteration<Lane>> lanes_;  // by worker
  size_t num_batches_ = 0;
  size_t bytes_ = 0;
};

}  // namespace koios::engine
