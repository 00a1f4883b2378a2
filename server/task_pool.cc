#include "server/task_pool.h"

#include <utility>

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

void TaskPool::Work() {
  while (true) {
    std::function<void()> task;
    {
      MutexLock lock(&mutex_);
      while (!closing_ && tasks_.empty()) ready_.Wait(&mutex_);
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace koios::server
