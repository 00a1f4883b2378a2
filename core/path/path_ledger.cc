#include "core/path/path_ledger.h"

#include <utility>

namespace koios {

PathLedger::Owner PathLedger::Charging(std::shared_ptr<MemoryAccount> account) {
  return Owner(new PathLedger(std::move(account), true));
}

PathLedger::Owner PathLedger::Unbound() { return Owner(new PathLedger(nullptr, true)); }

PathLedger::Owner PathLedger::ForLabels() { return Owner(new PathLedger(nullptr, false)); }

PathLedger::~PathLedger() {
  if (account_ != nullptr) account_->Release(given_back_.load(std::memory_order_relaxed));
}

Status PathLedger::Bind(std::shared_ptr<MemoryAccount> account) {
  const int64_t bytes = live_.load(std::memory_order_relaxed) - kOwner;
  if (!account->TryCharge(bytes)) return account->OverLimit(bytes);
  account_ = std::move(account);
  return OkStatus();
}

Status PathLedger::Take(int64_t bytes) {
  if (account_ != nullptr && !account_->TryCharge(bytes)) return account_->OverLimit(bytes);
  live_.fetch_add(bytes, std::memory_order_relaxed);
  return OkStatus();
}

void PathLedger::GiveBack(int64_t bytes) {
  if (account_ != nullptr) {
    const int64_t waiting = given_back_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (waiting >= kStep) account_->Release(given_back_.exchange(0, std::memory_order_relaxed));
  }
  Drop(bytes);
}

// The last one to leave sees what all others did.
void PathLedger::Drop(int64_t share) {
  if (live_.fetch_sub(share, std::memory_order_acq_rel) == share) delete this;
}

}  // namespace koios
