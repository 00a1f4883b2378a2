#include "engine/sched/ends/reaper.h"

#include <utility>

#include "core/thread_priority.h"
#include "engine/sched/query_run.h"

namespace koios::engine {

Reaper::Reaper() : thread_([this] { Run(); }) {}

Reaper::~Reaper() {
  {
    MutexLock lock(&mutex_);
    closing_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void Reaper::Take(std::unique_ptr<QueryRun> run) {
  {
    MutexLock lock(&mutex_);
    if (waiting_.size() < kMostWaiting) waiting_.push_back(std::move(run));
  }
  changed_.NotifyOne();
}

void Reaper::Run() {
  ComputesForLong();
  while (true) {
    std::vector<std::unique_ptr<QueryRun>> dead;
    {
      MutexLock lock(&mutex_);
      while (waiting_.empty() && !closing_) changed_.Wait(&mutex_);
      if (waiting_.empty()) return;
      dead.swap(waiting_);
    }
    for (std::unique_ptr<QueryRun>& run : dead) run.reset();
  }
}

}  // namespace koios::engine
