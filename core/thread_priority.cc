#include "core/thread_priority.h"

#include <linux/sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <thread>

namespace koios {
namespace {

// Linux's `struct sched_attr`, in its first form, whose header does not go with the C library's.
struct SchedAttr {
  uint32_t size = 0;
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = 0;  // nanoseconds, as the others; of a normal thread: its slice
  uint64_t deadline = 0;
  uint64_t period = 0;
};
static_assert(sizeof(SchedAttr) == 48);

}  // namespace

void ComputesForLong() {
  constexpr int32_t kNicer = 5, kNicest = 19;
  constexpr uint64_t kSliceNanos = 10'000'000;
  // The C library has no functions for these.
  SchedAttr now;
  if (syscall(SYS_sched_getattr, 0, &now, sizeof(now), 0) != 0) return;
  if (now.policy != SCHED_NORMAL && now.policy != SCHED_BATCH) return;
  now.size = sizeof(now);
  now.nice = std::min(now.nice + kNicer, kNicest);
  now.runtime = kSliceNanos;
  (void)syscall(SYS_sched_setattr, 0, &now, 0);
}

void Yields::Ran(int64_t nanos) {
  constexpr int64_t kMostNanos = 200'000;
  since_ += nanos;
  if (since_ < kMostNanos) return;
  since_ = 0;
  std::this_thread::yield();
}

}  // namespace koios
