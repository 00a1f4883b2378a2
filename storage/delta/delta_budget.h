// DeltaBudget: how much memory the deltas of all graphs of a data folder may take together, those
// included that only old views still hold. Charged chunk by chunk; nobody is refused here: who
// commits asks for room before (GraphStore::Commit), and what is at hand goes beyond. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>

#include "core/mutex.h"

namespace koios::storage {

// Who has a delta, and can fold it into snapshots.
class DeltaHolder {
 public:
  virtual ~DeltaHolder() = default;
  virtual size_t DeltaBytes() const = 0;
  // False: it has tried in vain.
  virtual bool CanFold() const = 0;
  virtual void RequestFold() = 0;
};

class DeltaBudget {
 public:
  explicit DeltaBudget(size_t limit_bytes) : limit_bytes_(limit_bytes) {}
  DeltaBudget(const DeltaBudget&) = delete;
  DeltaBudget& operator=(const DeltaBudget&) = delete;

  size_t limit_bytes() const { return limit_bytes_; }
  size_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  // By deltas that only old views still hold: others are folded before.
  bool is_exceeded() const { return used_bytes() >= 2 * limit_bytes_; }
  uint64_t num_releases() const { return num_releases_.load(std::memory_order_relaxed); }
  void Charge(size_t bytes) { used_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void Release(size_t bytes);

  void Add(DeltaHolder* holder);
  void Remove(DeltaHolder* holder);
  // A delta of less is not folded to make room.
  size_t least_fold_bytes() const { return limit_bytes_ / 8; }
  // Requests a fold of the largest delta. False: nobody will make room; what takes it are old
  // deltas, which go with the views that read them. Nobody waits for those: they may be one's own,
  // or those of requests that wait behind.
  bool AskForRoom();
  // Until something was released, or so many nanoseconds have passed.
  void WaitForChange(int64_t nanos);

 private:
  const size_t limit_bytes_;
  std::atomic<size_t> used_bytes_{0};
  std::atomic<uint64_t> num_releases_{0};
  Mutex mutex_;
  CondVar released_;
  std::set<DeltaHolder*> holders_ KOIOS_GUARDED_BY(mutex_);
};

}  // namespace koios::storage
