#include "server/task_pool.h"

#include <algorithm>
#include <utility>

#include "core/thread_priority.h"

namespace koios::server {
namespace {

// So many threads may be at tasks that are not short.
size_t MostLong(size_t num_threads) { return std::max<size_t>(num_threads, 2) - 1; }

}  // namespace

TaskPool::TaskPool(size_t num_threads, const Clock* clock)
    : clock_(clock), turns_(MostLong(num_threads)) {
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

TaskPool::Line TaskPool::Add(const std::string& address, uint64_t nanos) {
  const Line line = ++last_line_;
  lines_.try_emplace(line);
  turns_.Add(line, address, nanos);
  return line;
}

TaskPool::Line TaskPool::Open(const std::string& address, uint64_t nanos) {
  MutexLock lock(&mutex_);
  return Add(address, nanos);
}

void TaskPool::Close(Line line) {
  MutexLock lock(&mutex_);
  const auto found = lines_.find(line);
  if (found == lines_.end()) return;
  found->second.is_closed = true;
  EndIfDone(line);
}

void TaskPool::EndIfDone(Line line) {
  const auto found = lines_.find(line);
  if (found == lines_.end() || !found->second.is_closed || !found->second.waiting.empty()) return;
  lines_.erase(found);
  turns_.Remove(line);
}

void TaskPool::Run(Line line, std::function<void()> task) {
  {
    MutexLock lock(&mutex_);
    auto found = lines_.find(line);
    if (found == lines_.end()) {
      found = lines_.find(Add(/*address=*/"", /*nanos=*/0));
      found->second.is_closed = true;
    }
    found->second.waiting.push_back(std::move(task));
    turns_.Wake(found->first);
  }
  ready_.NotifyOne();
}

TaskPool::Alarm TaskPool::RunAfter(int64_t nanos, std::function<void()> task) {
  const int64_t due = SteadyClock::Get()->NowNanos() + nanos;
  Alarm alarm = 0;
  bool is_watched = false;
  {
    MutexLock lock(&mutex_);
    alarm = ++last_alarm_;
    alarms_[alarm] = {due, std::move(task)};
    due_.emplace(due, alarm);
    is_watched = IsWatched();
  }
  if (!is_watched) ready_.NotifyOne();
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
  ThreadWeight weight;
  Yields yields;
  while (true) {
    Job job = Next();
    if (job.task == nullptr) return;
    weight.Set(job.is_long);
    const int64_t begin = clock_->NowNanos();
    job.task();
    job.task = nullptr;  // what it held is let go by its line, too
    if (job.line == 0) continue;
    const int64_t took = clock_->NowNanos() - begin;
    Ran(job.line, took);
    if (job.is_long) yields.Ran(took);
  }
}

void TaskPool::Ran(Line line, int64_t nanos) {
  MutexLock lock(&mutex_);
  const auto found = lines_.find(line);
  const bool more = found != lines_.end() && !found->second.waiting.empty();
  turns_.Ran(line, static_cast<uint64_t>(std::max<int64_t>(nanos, 0)), more);
  EndIfDone(line);
}

TaskPool::Job TaskPool::Next() {
  MutexLock lock(&mutex_);
  while (true) {
    const int64_t now = due_.empty() ? 0 : SteadyClock::Get()->NowNanos();
    if (!due_.empty()) {
      if (std::function<void()> task = TakeAlarm(now)) {
        TellAnother();
        return {0, std::move(task), false};
      }
    }
    if (const std::optional<Line> line = turns_.Take()) {
      Tasks& tasks = lines_.find(*line)->second;
      Job job{*line, std::move(tasks.waiting.front()),
              turns_.Had(*line) >= ThreadWeight::kLongNanos};
      tasks.waiting.pop_front();
      TellAnother();
      return job;
    }
    if (closing_) return {};
    ++num_waiting_;
    if (due_.empty()) {
      ready_.Wait(&mutex_);
    } else {
      const auto wake = wakes_.insert(due_.begin()->first);
      ready_.WaitFor(&mutex_, *wake - now);
      wakes_.erase(wake);
    }
    --num_waiting_;
  }
}

// This thread has something to do: whoever was told of a task may have found that it had to wait
// for this one's turn, and somebody else has to wait for the next alarm.
void TaskPool::TellAnother() {
  if (num_waiting_ > 0 && (turns_.HasNext() || !IsWatched())) ready_.NotifyOne();
}

// Somebody wakes in time for the next alarm.
bool TaskPool::IsWatched() const {
  if (due_.empty()) return true;
  return !wakes_.empty() && *wakes_.begin() <= due_.begin()->first;
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
