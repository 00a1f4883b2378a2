// Progress: what an import is doing, told on stderr while it does it. On a terminal one line that
// is rewritten; as JSON one line per second; otherwise one line per finished stage.
//   {"stage":"read edges","rows":1200000,"rows_per_s":310000,"done":0.42,"eta_s":12,"elapsed_s":9}
// Counters may be moved by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include "core/clock.h"
#include "core/mutex.h"
#include "import/load/import_options.h"

namespace koios::import {

class Progress {
 public:
  Progress(ProgressMode mode, std::FILE* out, const Clock* clock);
  ~Progress();

  // `total` in units of whatever AddDone counts (bytes, records); 0: unknown.
  void StartStage(const std::string& name, uint64_t total);
  void AddRows(uint64_t rows) { rows_.fetch_add(rows, std::memory_order_relaxed); }
  void SetDone(uint64_t done) { done_.store(done, std::memory_order_relaxed); }
  void AddDone(uint64_t done) { done_.fetch_add(done, std::memory_order_relaxed); }
  // Ends the last stage; `whole`: all of it was done.
  void Finish(bool whole);

  double ElapsedSeconds() const;
  // The line for the current stage, as it would be shown now.
  std::string Line(bool json) const;

 private:
  void Loop();
  void EndStage(bool whole);
  std::string LineLocked(bool json) const KOIOS_REQUIRES(mutex_);

  const ProgressMode mode_;
  std::FILE* const out_;
  const Clock* const clock_;
  const bool is_terminal_;
  const int64_t start_nanos_;
  std::atomic<uint64_t> rows_{0};
  std::atomic<uint64_t> done_{0};
  mutable Mutex mutex_;
  CondVar changed_;
  std::string stage_ KOIOS_GUARDED_BY(mutex_);
  uint64_t total_ KOIOS_GUARDED_BY(mutex_) = 0;
  int64_t stage_start_nanos_ KOIOS_GUARDED_BY(mutex_) = 0;
  bool stopped_ KOIOS_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace koios::import
