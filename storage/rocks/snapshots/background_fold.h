// BackgroundFold: makes the snapshots of a graph anew when they are missing or damaged, or when the
// delta on top of them has become large, on a thread of its own that begins when it is first
// needed. Queries go on; commits too, as long as the delta has room. After a failure it waits
// before it tries again, longer each time.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "core/mutex.h"
#include "core/status.h"
#include "storage/delta/delta_budget.h"
#include "storage/rocks/store_state.h"

namespace koios::storage {

// Whether what is read is worth a fold: there is no base, it is damaged, or the delta is beyond a
// twentieth of it (of small ones: beyond some MB), its log so long that opening would take long, or
// the memory of deltas half full.
bool IsFoldDue(const Readable& readable, const DeltaBudget& budget);

class BackgroundFold final : public DeltaHolder {
 public:
  // `state` outlives this.
  explicit BackgroundFold(StoreState* state);
  ~BackgroundFold() override { Stop(); }
  BackgroundFold(const BackgroundFold&) = delete;
  BackgroundFold& operator=(const BackgroundFold&) = delete;

  // Folds soon if that is due. Any thread; cheap.
  void Look();
  // Ends a fold that runs, and begins none any more.
  void Stop();

  size_t DeltaBytes() const override;
  bool CanFold() const override { return !failing_; }
  void RequestFold() override;

 private:
  void Run();
  Status Fold();
  bool TakeTurn();
  bool IsStopping();
  void NoteOutcome(const Status& status);

  StoreState* const state_;
  std::atomic<bool> failing_{false};
  Mutex mutex_;
  CondVar changed_;
  bool requested_ KOIOS_GUARDED_BY(mutex_) = false;
  bool stopping_ KOIOS_GUARDED_BY(mutex_) = false;
  int64_t not_before_ns_ KOIOS_GUARDED_BY(mutex_) = 0;
  int64_t pause_ns_ KOIOS_GUARDED_BY(mutex_) = 0;  // after the last failure
  std::thread thread_ KOIOS_GUARDED_BY(mutex_);
};

}  // namespace koios::storage
