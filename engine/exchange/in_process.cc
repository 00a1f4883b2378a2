#include "engine/exchange/in_process.h"

#include <iterator>

namespace koios::engine {

void Mailbox::Push(Frame frame) {
  {
    MutexLock lock(&mutex_);
    (frame.is_control() ? control_ : data_).push_back(std::move(frame));
  }
  arrived_.NotifyOne();
}

std::vector<Frame> Mailbox::Drain() {
  std::vector<Frame> frames, data;
  MutexLock lock(&mutex_);
  frames.swap(control_);
  data.swap(data_);
  frames.insert(frames.end(), std::make_move_iterator(data.begin()),
                std::make_move_iterator(data.end()));
  return frames;
}

void Mailbox::Wait(uint64_t timeout_ns) {
  MutexLock lock(&mutex_);
  while (control_.empty() && data_.empty() && !closed_) {
    if (timeout_ns == 0) {
      arrived_.Wait(&mutex_);
    } else if (!arrived_.WaitFor(&mutex_, static_cast<int64_t>(timeout_ns))) {
      return;
    }
  }
}

void Mailbox::Close() {
  {
    MutexLock lock(&mutex_);
    closed_ = true;
  }
  arrived_.NotifyAll();
}

bool Mailbox::closed() {
  MutexLock lock(&mutex_);
  return closed_;
}

InProcessTransport::InProcessTransport(uint32_t num_workers) {
  for (uint32_t i = 0; i < num_workers; ++i) mailboxes_.push_back(std::make_unique<Mailbox>());
}

}  // namespace koios::engine
