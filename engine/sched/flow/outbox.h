// Outbox: the lanes of the operator behind one Exchange that are at other workers, as far as this
// one fills them: what waits there for each worker and iteration. Rows are gathered into full
// batches; a batch leaves when it is full, or at a flush, and only while the receiver has
// acknowledged all but kWindow frames of its lane, and when its bytes have credit (credits.h). A
// lane per iteration keeps a loop free of deadlock: what is deepest never waits behind what is
// shallower (engine rule 16). Belongs to one query on one worker.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/batch/batch.h"
#include "engine/batch/by_iteration.h"
#include "engine/batch/fifo.h"
#include "engine/exchange/frame.h"

namespace koios::engine {

class Outbox {
 public:
  static constexpr uint32_t kWindow = 2;

  // `frame_bytes`: no batch of several rows has more, about.
  Outbox(uint32_t num_workers, size_t frame_bytes)
      : frame_bytes_(frame_bytes), lanes_(num_workers) {}

  // Adds rows of `source` at `picked`, with their runs (counts add up to picked.size()).
  void Add(uint32_t to, const Loops& iteration, const Batch& source,
           const std::vector<uint32_t>& picked, const std::vector<Run>& runs);
  // The iterations that hold something for `to`, the deepest first.
  std::vector<Loops> Waiting(uint32_t to) const;
  // Whether a batch is there that may leave: a full one, or any with `flush`.
  bool IsReady(uint32_t to, const Loops& iteration, bool flush) const;
  // Whether the window of the lane is open.
  bool IsOpen(uint32_t to, const Loops& iteration) const;
  // Of the next batch, as it leaves. REQUIRES: IsReady.
  size_t NextBytes(uint32_t to, const Loops& iteration);
  // The next batch. REQUIRES: IsReady.
  Batch Take(uint32_t to, const Loops& iteration);
  // A frame of the lane is on its way.
  void Sent(uint32_t to, const Loops& iteration, const FrameCredit& credit);
  // Whether a batch may go there at once, as nothing is gathered and the window is open.
  bool MayPass(uint32_t to, const Loops& iteration) const;
  // The lane asks for a grant. False: it has asked already.
  bool Ask(uint32_t to, const Loops& iteration);
  // The grant has come. False: nobody has asked for it.
  [[nodiscard]] bool Answer(uint32_t to, const Loops& iteration);
  // The receiver is done with the first frame that is on its way. False: there is none.
  [[nodiscard]] bool Acknowledge(uint32_t to, const Loops& iteration, FrameCredit* credit);
  // A lane of this iteration holds a full batch: the Exchange takes no more of its input until that
  // has left.
  bool Blocked(const Loops& iteration) const;
  bool Empty() const { return num_batches_ == 0; }
  // Of the rows that wait, about, and of the lanes.
  size_t ByteSize() const;
  // Of an outbox that has none.
  static size_t StandingBytes(uint32_t num_workers) {
    return sizeof(Outbox) + num_workers * sizeof(ByIteration<Lane>);
  }

 private:
  struct Gathered {
    JoinedBatch joined;
    size_t leaving_bytes = 0;  // 0: not known, as rows have come
  };
  struct Lane {
    Fifo<Gathered> batches;
    Fifo<FrameCredit> in_flight;  // in the order in which they are acknowledged
    bool has_asked = false;
    bool empty() const { return batches.empty() && in_flight.empty() && !has_asked; }
  };

  bool IsFull(const Lane& lane) const;
  void AddPiece(Lane* lane, const Batch& source, const std::vector<uint32_t>& picked,
                const std::vector<Run>& runs, size_t bytes);

  const size_t frame_bytes_;
  std::vector<ByIteration<Lane>> lanes_;  // by worker
  size_t num_batches_ = 0;
  size_t bytes_ = 0;  // of the rows
};

}  // namespace koios::engine
