// TaskPool: the threads that do a session's own work (parse, plan, turn references to results), so
// that no engine worker ever does, and a gRPC thread only where nobody else asks. Tasks must not
// wait for one another.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <utility>
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
  // one task in it, and one that lets its results go.
  void Run(std::function<void()> task);
  // Not before so many nanoseconds have passed, unless it is forgotten by then. What is left at the
  // end is not run.
  using Alarm = uint64_t;  // never 0
  Alarm RunAfter(int64_t nanos, std::function<void()> task);
  void Forget(Alarm alarm);  // 0: none

 private:
  void Work();
  // The next task, waited for; null when the pool is at its end.
  std::function<void()> Next();
  std::function<void()> TakeAlarm(int64_t now) KOIOS_REQUIRES(mutex_);

  Mutex mutex_;
  CondVar ready_;
  std::deque<std::function<void()>> tasks_ KOIOS_GUARDED_BY(mutex_);
  struct Timed {
    int64_t due_nanos = 0;
    std::function<void()> task;
  };
  std::map<Alarm, Timed> alarms_ KOIOS_GUARDED_BY(mutex_);
  std::set<std::pair<int64_t, Alarm>> due_ KOIOS_GUARDED_BY(mutex_);  // when, which
  Alarm last_alarm_ KOIOS_GUARDED_BY(mutex_) = 0;
  bool closing_ KOIOS_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace koios::server
