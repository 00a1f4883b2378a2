#include "core/memory.h"

#include <utility>

namespace koios {

MemoryAccount::MemoryAccount(std::string name, int64_t limit_bytes, MemoryAccount* parent,
                             LimitWords words)
    : name_(std::move(name)), words_(std::move(words)), limit_(limit_bytes), parent_(parent) {
  CHECK(limit_bytes >= 0);
}

MemoryAccount::~MemoryAccount() {
  if (parent_ != nullptr && AtParent(used()) != 0) parent_->Release(AtParent(used()));
}

bool MemoryAccount::TryReserve(int64_t bytes) {
  CHECK(bytes >= 0 && bytes <= limit_ && reserved_ == 0 && used() == 0);
  if (parent_ != nullptr && !parent_->TryChargeWithin(bytes, parent_->LimitFor(bytes))) {
    return false;
  }
  reserved_ = bytes;
  return true;
}

int64_t MemoryAccount::AddUsed(int64_t bytes) {
  const int64_t now = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  return now;
}

bool MemoryAccount::TryCharge(int64_t bytes) { return TryChargeWithin(bytes, limit_); }

bool MemoryAccount::TryChargeWithin(int64_t bytes, int64_t limit) {
  DCHECK(bytes >= 0);
  if (refuse_from_ > 0) {
    const uint64_t charge = charges_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (charge >= refuse_from_ && charge - refuse_from_ <= refuse_more_) return false;
  }
  int64_t now = 0;
  while (true) {
    // Reserve by compare-and-swap: an add that is undone could make a concurrent charge fail.
    now = used_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit - now) return false;
    } while (!used_.compare_exchange_weak(now, now + bytes, std::memory_order_relaxed));
    const int64_t above = AtParent(now + bytes) - AtParent(now);
    if (above == 0 || parent_ == nullptr ||
        parent_->TryChargeWithin(above, parent_->LimitFor(now + bytes))) {
      break;
    }
    const int64_t before = used_.fetch_sub(bytes, std::memory_order_relaxed);
    // Others have charged and released meanwhile, and told the parent what their bytes were above
    // the reserve: with these ones below. What they gave back too much is taken again, past the
    // parent's limit if somebody has it by now.
    const int64_t told = AtParent(before) - AtParent(before - bytes) - above;
    if (told > 0) parent_->Release(told);
    if (told < 0) parent_->Charge(-told);
    // What fits the reserve by now is never refused.
    if (before > reserved_) return false;
  }
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (now + bytes > peak &&
         !peak_.compare_exchange_weak(peak, now + bytes, std::memory_order_relaxed)) {
  }
  return true;
}

void MemoryAccount::Charge(int64_t bytes) {
  DCHECK(bytes >= 0);
  for (MemoryAccount* account = this; account != nullptr && bytes > 0; account = account->parent_) {
    const int64_t now = account->AddUsed(bytes);
    bytes = account->AtParent(now) - account->AtParent(now - bytes);
  }
}

void MemoryAccount::Release(int64_t bytes) {
  DCHECK(bytes >= 0);
  for (MemoryAccount* account = this; account != nullptr && bytes > 0; account = account->parent_) {
    const int64_t before = account->used_.fetch_sub(bytes, std::memory_order_relaxed);
    DCHECK(before >= bytes);
    bytes = account->AtParent(before) - account->AtParent(before - bytes);
  }
}

bool MemoryAccount::IsTight() const {
  if (IsHalfUsed()) return true;
  if (reserved_ > 0 && used() <= reserved_) return false;
  for (const MemoryAccount* above = parent_; above != nullptr; above = above->parent_) {
    if (above->used() > (above->limit_ - above->kept_for_small_) / 4 * 3) return true;
  }
  return false;
}

Status MemoryAccount::OverLimit(int64_t bytes, std::string_view step) const {
  // Others may have released since the charge was refused. They share the top of the chain, so that
  // is what refused when nobody does any more.
  const MemoryAccount* refuses = this;
  int64_t limit = limit_;
  int64_t child_used = 0;
  for (const MemoryAccount* account = this; account != nullptr; account = account->parent_) {
    refuses = account;
    limit = account->LimitFor(child_used);
    const int64_t now = account->used();
    if (bytes > limit - now) break;
    child_used = now + bytes;
    bytes = account->AtParent(child_used) - account->AtParent(now);
  }
  ErrorDetail detail;
  detail.reason = refuses->words_.reason;
  detail.limit = refuses->name_ + ": " + std::to_string(limit) + " bytes";
  detail.used = std::to_string(refuses->used() + bytes) + " bytes";
  detail.setting = refuses->words_.setting;
  detail.hint = refuses->words_.hint;
  detail.step = step;
  std::string message =
      "The memory limit of " + refuses->name_ + ", " + std::to_string(limit) + " bytes, is reached";
  if (!step.empty()) message += " at the step " + detail.step;
  return ResourceExhausted(message + ".", detail);
}

MemoryCharge::MemoryCharge(MemoryCharge&& other) noexcept
    : account_(other.account_), bytes_(std::exchange(other.bytes_, 0)) {}

MemoryCharge& MemoryCharge::operator=(MemoryCharge&& other) noexcept {
  if (this != &other) {
    Reset();
    account_ = other.account_;
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

bool MemoryCharge::TryResize(int64_t bytes) {
  if (bytes > bytes_) {
    CHECK(account_ != nullptr);
    if (!account_->TryCharge(bytes - bytes_)) return false;
    bytes_ = bytes;
  } else {
    Resize(bytes);
  }
  return true;
}

void MemoryCharge::Resize(int64_t bytes) {
  if (bytes == bytes_) return;
  CHECK(account_ != nullptr);
  if (bytes > bytes_) {
    account_->Charge(bytes - bytes_);
  } else {
    account_->Release(bytes_ - bytes);
  }
  bytes_ = bytes;
}

}  // namespace koios
