#include "storage/delta/delta_budget.h"

namespace koios::storage {

void DeltaBudget::Release(size_t bytes) {
  used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  num_releases_.fetch_add(1, std::memory_order_relaxed);
  released_.NotifyAll();
}

void DeltaBudget::Add(DeltaHolder* holder) {
  MutexLock lock(&mutex_);
  holders_.insert(holder);
}

void DeltaBudget::Remove(DeltaHolder* holder) {
  MutexLock lock(&mutex_);
  holders_.erase(holder);
}

bool DeltaBudget::AskForRoom() {
  MutexLock lock(&mutex_);
  DeltaHolder* largest = nullptr;
  size_t most = 0;
  for (DeltaHolder* holder : holders_) {
    const size_t bytes = holder->DeltaBytes();
    if (bytes < least_fold_bytes() || bytes <= most || !holder->CanFold()) continue;
    largest = holder;
    most = bytes;
  }
  if (largest != nullptr) largest->RequestFold();
  return largest != nullptr;
}

void DeltaBudget::WaitForChange(int64_t nanos) {
  MutexLock lock(&mutex_);
  released_.WaitFor(&mutex_, nanos);
}

}  // namespace koios::storage
