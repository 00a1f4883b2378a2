// Credits: what may be on its way to a worker of one query, in bytes, however many exchanges,
// iterations and workers the query has (engine rules 16 to 18). `credit_bytes` of a receiver are
// split into an equal allotment for each sender, who sends without asking as long as its frames
// that the receiver is not done with stay within it: a small query never waits for a round trip. A
// frame that does not fit asks, once per lane. The receiver has one slot for each *depth*: the
// Exchange's place in the plan and the iteration. A frame comes by a slot where no other one of its
// depth has; the deepest who ask are first, then who asked first. So a receiver holds at most
// credit_bytes and a frame for each of `depth_slots` depths. Where sorted rows are merged a slot is
// each sender's own, as the merge needs a frame of each to go on.
//
// Why nobody waits for ever: a lane waits only for deeper ones. Its operator waits for room in the
// lane that it gives to, an instance of a scope for rows of its body, an Exchange for rows that
// have left it: all of them deeper. Of all that waits anywhere, look at the deepest. If it is in a
// lane, nothing is where it goes, and it can move; sorted rows that wait to be merged wait for a
// sender that has none there, and whose slot is free. If it is behind an Exchange, no frame of its
// depth is at the receiver, as that would wait deeper: so its slot is free, or a grant is on its
// way, and control waits for nothing. Only when frames of shallower depths have all the slots, in a
// loop without a bound, is there none; then the receiver too comes to where it can move nothing,
// and grants one frame more, an *overdraft*, for what would be deeper than all it holds. Each grant
// moves rows forward and nothing moves back. Only the coordinator knows that its client does not
// read, and grants none then; what others grant is charged, and goes as far as the query's memory.
// Both belong to a query on one worker, and to its thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "engine/batch/fifo.h"
#include "engine/batch/loops.h"
#include "engine/sched/plan_shape.h"

namespace koios::engine {

// What may leave here for each other worker.
class SendCredits {
 public:
  SendCredits(uint32_t num_workers, size_t credit_bytes);

  // Rows that can be cut leave in frames of at most so many bytes, about: some of them are within
  // an allotment.
  size_t frame_bytes() const { return frame_bytes_; }
  // False: they do not fit, and somebody waits there now.
  [[nodiscard]] bool TryTake(uint32_t to, size_t bytes);
  // The receiver is done with them.
  void GiveBack(uint32_t to, size_t bytes) { used_[to] -= bytes; }
  // Whether something has waited since this was asked last.
  bool TakeWaiting(uint32_t to);

 private:
  size_t allotment_;
  size_t frame_bytes_;
  std::vector<size_t> used_;  // by worker
  std::vector<bool> waiting_;
};

// What has come here from others and is not done with. Whatever others say, false or nullopt is the
// answer to what can't be.
class ReceiveCredits {
 public:
  ReceiveCredits(uint32_t num_workers, size_t credit_bytes, size_t depth_slots);

  // Who asks, for which lane.
  struct Ask {
    uint32_t from = 0;
    uint32_t op = 0;  // Exchange
    Loops loops;
    bool merging = false;  // a slot is each sender's own
  };

  // A frame has come within the sender's allotment, and is done with.
  [[nodiscard]] bool Receive(uint32_t from, size_t bytes);
  void Done(uint32_t from, size_t bytes) { used_[from] -= bytes; }

  // False: it has asked for this lane before.
  [[nodiscard]] bool Wait(const Depth& depth, Ask ask);
  // The next who may send one frame.
  std::optional<Ask> Grant();
  // Beyond the slots, where nothing here can move. `deeper(ask)`: than all that is here.
  std::optional<Ask> GrantOverdraft(const std::function<bool(const Ask&)>& deeper);
  // A frame has come by a grant.
  [[nodiscard]] bool ReceiveGranted(const Depth& depth, uint32_t from);
  // It is done with.
  void DoneGranted(const Depth& depth, uint32_t from);
  // The sender needs the grant no more.
  [[nodiscard]] bool ReturnGrant(const Depth& depth, uint32_t from);

  bool has_waiting() const { return !asks_.empty(); }
  size_t num_slots() const { return slots_.size(); }
  // Of who waits and the slots, about.
  size_t ByteSize() const;

 private:
  struct Holder {
    uint32_t from = 0;
    bool has_come = false;
  };
  struct Waiting {
    uint32_t op = 0;
    Loops loops;
    bool merging = false;
    Fifo<uint32_t> senders;
  };
  using Asks = std::map<Depth, Waiting, std::greater<>>;

  std::vector<Holder>::iterator Find(std::vector<Holder>* holders, uint32_t from, bool has_come);
  bool Free(const Depth& depth, uint32_t from, bool has_come);
  Ask Give(Asks::iterator waiting, size_t sender);

  const size_t allotment_;
  const size_t depth_slots_;
  std::vector<size_t> used_;  // by worker
  Asks asks_;
  std::map<Depth, std::vector<Holder>> slots_;  // in use
  size_t under_way_ = 0;                        // grants whose frames have not come
};

}  // namespace koios::engine
