#include "server/guard/memory_guard.h"

#include <algorithm>
#include <utility>

#include "core/log.h"

namespace koios::server {

MemoryGuard::MemoryGuard(MemoryAccount* account, MemoryGuardOptions options)
    : account_(account),
      options_(std::move(options)),
      at_start_(static_cast<int64_t>(options_.resident())),
      charge_(account) {
  if (options_.period.count() > 0) thread_ = std::thread([this] { Run(); });
}

MemoryGuard::~MemoryGuard() {
  {
    MutexLock lock(&mutex_);
    closing_ = true;
  }
  wake_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

int64_t MemoryGuard::charged() const {
  MutexLock lock(&mutex_);
  return charge_.bytes();
}

int64_t MemoryGuard::Excess() const {
  const auto resident = static_cast<int64_t>(options_.resident());
  const int64_t unused = options_.unused ? options_.unused() : 0;
  const int64_t counted = account_->used() - charge_.bytes() - unused;
  return std::max<int64_t>(0, resident - at_start_ - counted - options_.rest_bytes);
}

void MemoryGuard::Look() {
  MutexLock lock(&mutex_);
  int64_t excess = Excess();
  if (excess > 0) {
    options_.give_back();
    excess = Excess();
  }
  if (excess > 0 && charge_.bytes() == 0) {
    KLOG_DEBUG("{} bytes more than planned are resident; queries get less", excess);
  }
  charge_.Resize(excess);
  if (options_.look) options_.look();
}

void MemoryGuard::Run() {
  const int64_t period_ns = std::chrono::nanoseconds(options_.period).count();
  while (true) {
    {
      MutexLock lock(&mutex_);
      if (!closing_) wake_.WaitFor(&mutex_, period_ns);
      if (closing_) return;
    }
    Look();
  }
}

}  // namespace koios::server
