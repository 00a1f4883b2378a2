// TaskPool: the threads that do a session's own work (parse, plan, turn references to results), so
// that neither an engine worker nor a gRPC thread ever does. Tasks must not wait for one another.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "core/mutex.h"

namespace koios::server {

class TaskPool {
 public:
  explicit TaskPool(size_t num_threads);
  ~TaskPool();  // runs what is queued, then joins
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  // Any thread, also from a task. The queue is bounded by its users: each open session has at most
  // one task in it.
  void Run(std::function<void()> task);

 private:
  void Work();

  Mutex mutex_;
  CondVar ready_;
  std::deque<std::function<void()>> tasks_ KOIOS_GUARDED_BY(mutex_);
  bool closing_ KOIOS_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace koios::server
