#include "server/task_pool.h"

#include <utility>

#include "core/clock.h"

namespace koios::server {

TaskPool::TaskPool(size_t num_threads) {
  threads_.reserve(num_threads);
  for (size_t i = 0; i < num_threads; ++i) threads_.emplace_back([this] { Work(); });
}

TaskPool::~TaskPool() {
  {
    MutexLock lock(&mutex_);
    closing_ = true;
  }
  ready_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void TaskPool::Run(std::function<void()> task) {
  {
    MutexLock lock(&mutex_);
    tasks_.push_back(std::move(task));
  }
  ready_.NotifyOne();
}

TaskPool::Alarm TaskPool::RunAfter(int64_t nanos, std::function<void()> task) {
  const int64_t due = SteadyClock::Get()->NowNanos() + nanos;
  Alarm alarm = 0;
  {
    MutexLock lock(&mutex_);
    alarm = ++last_alarm_;
    alarms_[alarm] = {due, std::move(task)};
    due_.emplace(due, alarm);
  }
  ready_.NotifyOne();
  return alarm;
}

void TaskPool::Forget(Alarm alarm) {
  if (alarm == 0) return;
  MutexLock lock(&mutex_);
  const auto found = alarms_.find(alarm);
  if (found == alarms_.end()) return;
  due_.erase({found->second.due_nanos, alarm});
  alarms_.erase(found);
}

void TaskPool::Work() {
  while (std::function<void()> task = Next()) task();
}

std::function<void()> TaskPool::Next() {
  MutexLock lock(&mutex_);
  while (true) {
    if (!due_.empty()) {
      const int64_t now = SteadyClock::Get()->NowNanos();
      if (std::function<void()> task = TakeAlarm(now)) return task;
      if (tasks_.empty() && !closing_) {
        ready_.WaitFor(&mutex_, due_.begin()->first - now);
        continue;
      }
    }
    if (!tasks_.empty()) {
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      return task;
    }
    if (closing_) return nullptr;
    ready_.Wait(&mutex_);
  }
}

std::function<void()> TaskPool::TakeAlarm(int64_t now) {
  const auto [due, alarm] = *due_.begin();
  if (due > now) return nullptr;
  due_.erase(due_.begin());
  const auto found = alarms_.find(alarm);
  std::function<void()> task = std::move(found->second.task);
  alarms_.erase(found);
  return task;
}

}  // namespace koios::server
