// OrderedPipeline: one reader, several workers, one consumer, over tasks that stay in the order in
// which they were read. Bounded: at most `max_in_flight` tasks exist at a time, so a slow consumer
// holds up the reader. The reader and the workers are threads of Run, the consumer is its caller.
// Rule: the consumer sees tasks in order and sees none behind the first error.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/mutex.h"
#include "core/status.h"

namespace koios::import {

template <typename Task>
class OrderedPipeline {
 public:
  OrderedPipeline(size_t num_workers, size_t max_in_flight)
      : num_workers_(num_workers), max_in_flight_(max_in_flight) {}

  // `read` fills a task, false at the end. `work` may call WaitForTurn with its task's number.
  Status Run(const std::function<StatusOr<bool>(Task*)>& read,
             const std::function<Status(Task*, uint64_t number)>& work,
             const std::function<Status(Task*)>& consume) {
    std::vector<std::thread> threads;
    threads.emplace_back([&] { ReadAll(read); });
    for (size_t i = 0; i < num_workers_; ++i) threads.emplace_back([&] { WorkAll(work); });
    Status status = ConsumeAll(consume);
    Stop();
    for (std::thread& thread : threads) thread.join();
    return status;
  }

  // Blocks a worker until all tasks before `number` are worked on; for effects that must happen in
  // order. False when the pipeline was stopped.
  bool WaitForTurn(uint64_t number) {
    MutexLock lock(&mutex_);
    while (!stopped_ && num_done_in_order_ < number) changed_.Wait(&mutex_);
    return !stopped_;
  }

 private:
  struct Slot {
    Task task;
    uint64_t number = 0;
    bool done = false;
    Status status;
  };

  void Stop() {
    MutexLock lock(&mutex_);
    stopped_ = true;
    changed_.NotifyAll();
  }

  void ReadAll(const std::function<StatusOr<bool>(Task*)>& read) {
    for (uint64_t number = 0;; ++number) {
      auto slot = std::make_shared<Slot>();
      slot->number = number;
      {
        MutexLock lock(&mutex_);
        while (!stopped_ && in_order_.size() >= max_in_flight_) changed_.Wait(&mutex_);
        if (stopped_) return;
      }
      StatusOr<bool> more = read(&slot->task);
      MutexLock lock(&mutex_);
      if (more.ok() && *more) {
        in_order_.push_back(slot);
        to_work_.push_back(slot);
      } else {
        if (!more.ok()) {
          slot->status = more.status();
          slot->done = true;
          in_order_.push_back(slot);
        }
        all_read_ = true;
      }
      changed_.NotifyAll();
      if (all_read_) return;
    }
  }

  void WorkAll(const std::function<Status(Task*, uint64_t)>& work) {
    while (true) {
      std::shared_ptr<Slot> slot;
      {
        MutexLock lock(&mutex_);
        while (!stopped_ && !all_read_ && to_work_.empty()) changed_.Wait(&mutex_);
        if (stopped_ || to_work_.empty()) return;
        slot = std::move(to_work_.front());
        to_work_.pop_front();
      }
      Status status = work(&slot->task, slot->number);
      MutexLock lock(&mutex_);
      slot->status = std::move(status);
      slot->done = true;
      for (const auto& next : in_order_) {
        if (!next->done) break;
        num_done_in_order_ = std::max(num_done_in_order_, next->number + 1);
      }
      changed_.NotifyAll();
    }
  }

  Status ConsumeAll(const std::function<Status(Task*)>& consume) {
    while (true) {
      std::shared_ptr<Slot> slot;
      {
        MutexLock lock(&mutex_);
        while (in_order_.empty() ? !all_read_ : !in_order_.front()->done) changed_.Wait(&mutex_);
        if (in_order_.empty()) return OkStatus();
        slot = in_order_.front();
      }
      RETURN_IF_ERROR(slot->status);
      RETURN_IF_ERROR(consume(&slot->task));
      MutexLock lock(&mutex_);
      in_order_.pop_front();  // only now: the task counts as in flight while it is consumed
      changed_.NotifyAll();
    }
  }

  const size_t num_workers_;
  const size_t max_in_flight_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::shared_ptr<Slot>> in_order_ KOIOS_GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<Slot>> to_work_ KOIOS_GUARDED_BY(mutex_);
  uint64_t num_done_in_order_ KOIOS_GUARDED_BY(mutex_) = 0;
  bool all_read_ KOIOS_GUARDED_BY(mutex_) = false;
  bool stopped_ KOIOS_GUARDED_BY(mutex_) = false;
};

}  // namespace koios::import
