// TaskPool: the threads that do a session's own work (parse, plan, turn references to results), so
// that no engine worker ever does, and a gRPC thread only where nobody else asks. Queries have
// their tasks in lines; of all lines that which has had least time is next, short ones first, and
// the lines of one address share as one does (engine/sched/fair_turns.h). Of several threads one is
// for the short, whatever a task of another one takes. Tasks must not wait for one another, and
// one that takes long comes back to its line between its parts.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/mutex.h"
#include "engine/sched/fair_turns.h"

namespace koios::server {

class TaskPool {
 public:
  // `clock`: what tasks take is measured by it; alarms have the system's.
  explicit TaskPool(size_t num_threads, const Clock* clock = SteadyClock::Get());
  ~TaskPool();  // runs what is queued, then joins
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  // A query's tasks, in their order, one at a time. All calls: any thread, also from a task.
  // `nanos`: what its tasks are expected to take, when that is known to be much.
  using Line = uint64_t;  // never 0
  Line Open(const std::string& address, uint64_t nanos = 0);
  // What is in it is run.
  void Close(Line line);
  // Lines are bounded by their users: each open session has at most one task in its own, and one
  // that lets its results go. A line that is not open: a task by itself.
  void Run(Line line, std::function<void()> task);
  // A short one by itself.
  void Run(std::function<void()> task) { Run(0, std::move(task)); }
  // Not before so many nanoseconds have passed, unless it is forgotten by then. What is left at the
  // end is not run.
  using Alarm = uint64_t;  // never 0
  Alarm RunAfter(int64_t nanos, std::function<void()> task);
  void Forget(Alarm alarm);  // 0: none

 private:
  struct Tasks {
    std::deque<std::function<void()>> waiting;
    bool is_closed = false;
  };
  struct Job {
    Line line = 0;  // 0: an alarm's
    std::function<void()> task;
    bool is_long = false;  // of a line that has had much (core/thread_priority.h)
  };

  void Work();
  // The next task, waited for; none when the pool is at its end.
  Job Next();
  void TellAnother() KOIOS_REQUIRES(mutex_);
  bool IsWatched() const KOIOS_REQUIRES(mutex_);
  std::function<void()> TakeAlarm(int64_t now) KOIOS_REQUIRES(mutex_);
  void Ran(Line line, int64_t nanos);
  Line Add(const std::string& address, uint64_t nanos) KOIOS_REQUIRES(mutex_);
  void EndIfDone(Line line) KOIOS_REQUIRES(mutex_);

  const Clock* const clock_;
  Mutex mutex_;
  CondVar ready_;
  size_t num_waiting_ KOIOS_GUARDED_BY(mutex_) = 0;  // threads
  // When some of them wake, told or not: a later alarm needs to tell nobody.
  std::multiset<int64_t> wakes_ KOIOS_GUARDED_BY(mutex_);
  std::map<Line, Tasks> lines_ KOIOS_GUARDED_BY(mutex_);
  engine::FairTurns<Line, std::string> turns_ KOIOS_GUARDED_BY(mutex_);
  Line last_line_ KOIOS_GUARDED_BY(mutex_) = 0;
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
