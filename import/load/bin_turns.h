// BinTurns: work on bins 0, 1, 2... by several threads, each of which takes the next bin that
// nobody has. What must happen in the order of the bins waits for its turn.
// Rule: the error that is returned is that of the first bin that has one, as with one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "core/mutex.h"
#include "core/status.h"

namespace koios::import {

class BinTurns {
 public:
  // Calls work(bin) for each. A bin that is not begun when another one fails is left out.
  Status Run(size_t num_threads, size_t num_bins, const std::function<Status(size_t bin)>& work) {
    {
      MutexLock lock(&mutex_);
      done_.assign(num_bins, false);
    }
    std::vector<std::thread> threads;
    const size_t others = std::min(num_threads, num_bins);
    for (size_t i = 1; i < others; ++i) threads.emplace_back([&] { Work(work); });
    Work(work);
    for (std::thread& thread : threads) thread.join();
    MutexLock lock(&mutex_);
    return failed_;
  }

  // Returns when all bins before `bin` are done with. CANCELLED when one of them failed.
  Status WaitForTurn(size_t bin) {
    MutexLock lock(&mutex_);
    while (first_open_ < bin && (failed_.ok() || failed_bin_ > bin)) changed_.Wait(&mutex_);
    return first_open_ < bin ? Cancelled("The import is being given up.") : OkStatus();
  }

 private:
  void Work(const std::function<Status(size_t bin)>& work) {
    while (true) {
      size_t bin = 0;
      {
        MutexLock lock(&mutex_);
        if (!failed_.ok() || next_ == done_.size()) return;
        bin = next_++;
      }
      Status status = work(bin);
      MutexLock lock(&mutex_);
      if (status.ok()) {
        done_[bin] = true;
        while (first_open_ < done_.size() && done_[first_open_]) ++first_open_;
      } else if (failed_.ok() || bin < failed_bin_) {
        failed_ = std::move(status);
        failed_bin_ = bin;
      }
      changed_.NotifyAll();
    }
  }

  Mutex mutex_;
  CondVar changed_;
  std::vector<bool> done_ KOIOS_GUARDED_BY(mutex_);
  size_t next_ KOIOS_GUARDED_BY(mutex_) = 0;
  size_t first_open_ KOIOS_GUARDED_BY(mutex_) = 0;  // all before it are done
  Status failed_ KOIOS_GUARDED_BY(mutex_);
  size_t failed_bin_ KOIOS_GUARDED_BY(mutex_) = 0;
};

}  // namespace koios::import
