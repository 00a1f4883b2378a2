// The transport inside one process: a mailbox per worker, frames travel as objects. Control frames
// have a channel of their own and overtake data (engine rule 18).
// Bound: data frames in a mailbox are limited by the receiver's credits (sched/flow/credits.h),
// control frames by one report per flush, one acknowledgement per data frame, and one ask or answer
// per lane. A push never waits.
#pragma once

#include <memory>
#include <vector>

#include "core/mutex.h"
#include "engine/exchange/frame.h"

namespace koios::engine {

class Mailbox {
 public:
  void Push(Frame frame);
  // Moves out everything that has arrived, control first. Any thread may push meanwhile.
  std::vector<Frame> Drain();
  // Sleeps until something arrives or `timeout_ns` has passed (0: no timeout).
  void Wait(uint64_t timeout_ns);
  // Makes Wait return, now and from now on.
  void Close();
  bool closed();

 private:
  Mutex mutex_;
  CondVar arrived_;
  std::vector<Frame> control_ KOIOS_GUARDED_BY(mutex_);
  std::vector<Frame> data_ KOIOS_GUARDED_BY(mutex_);
  bool closed_ KOIOS_GUARDED_BY(mutex_) = false;
};

class InProcessTransport : public Transport {
 public:
  explicit InProcessTransport(uint32_t num_workers);
  void Send(uint32_t to, Frame frame) override { mailboxes_[to]->Push(std::move(frame)); }
  Mailbox& mailbox(uint32_t worker) { return *mailboxes_[worker]; }

 private:
  std::vector<std::unique_ptr<Mailbox>> mailboxes_;
};

}  // namespace koios::engine
