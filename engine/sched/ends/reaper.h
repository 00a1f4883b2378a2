// Reaper: what large queries leave is freed here, by a thread of its own. Ten million keys of a
// table take seconds to free, and a worker that did it would keep all its other queries waiting,
// and the answer of this one. What is freed is charged until it is.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "core/mutex.h"

namespace koios::engine {

class QueryRun;

class Reaper {
 public:
  // Of what a query has charged, or has on disk: with less the worker frees it.
  static constexpr int64_t kLeastBytes = int64_t{8} << 20;
  static constexpr size_t kMostWaiting = 8;

  Reaper();
  ~Reaper();  // when all is freed
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;

  // Any thread. Where many wait already it is freed here and now: who makes more than can be freed
  // beside him does it himself.
  void Take(std::unique_ptr<QueryRun> run);

 private:
  void Run();

  Mutex mutex_;
  CondVar changed_;
  std::vector<std::unique_ptr<QueryRun>> waiting_ KOIOS_GUARDED_BY(mutex_);
  bool closing_ KOIOS_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace koios::engine
