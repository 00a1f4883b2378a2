#include "core/thread_priority.h"

#include <linux/capability.h>
#include <linux/sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <thread>

namespace koios {
namespace {

constexpr int32_t kNicer = 5, kNicest = 19;
constexpr uint64_t kSliceNanos = 10'000'000;

// Linux's `struct sched_attr`, in its first form, whose header does not go with the C library's.
struct SchedAttr {
  uint32_t size = 0;
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = 0;  // nanoseconds, as the others; of a normal thread: its slice, 0: the usual
  uint64_t deadline = 0;
  uint64_t period = 0;
};
static_assert(sizeof(SchedAttr) == 48);

// The C library has no functions for these. False where this thread has no such times.
bool Get(SchedAttr* now) {
  if (syscall(SYS_sched_getattr, 0, now, sizeof(*now), 0) != 0) return false;
  return now->policy == SCHED_NORMAL || now->policy == SCHED_BATCH;
}

void SetTimes(SchedAttr now, int32_t nice, uint64_t slice_nanos) {
  now.size = sizeof(now);
  now.nice = std::min(nice, kNicest);
  now.runtime = slice_nanos;
  (void)syscall(SYS_sched_setattr, 0, &now, 0);
}

// Whether a thread may have the weight again that it has had.
bool MayRaise(int32_t nice) {
  struct rlimit limit = {};
  constexpr int kLimitOfNice0 = 20;
  if (getrlimit(RLIMIT_NICE, &limit) == 0 &&
      limit.rlim_cur >= static_cast<rlim_t>(kLimitOfNice0 - nice)) {
    return true;
  }
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, data) != 0) return false;
  return (data[0].effective & (1u << CAP_SYS_NICE)) != 0;
}

int32_t NiceNow() {
  SchedAttr now;
  return Get(&now) ? now.nice : 0;
}

}  // namespace

void ComputesForLong() {
  SchedAttr now;
  if (Get(&now)) SetTimes(now, now.nice + kNicer, kSliceNanos);
}

ThreadWeight::ThreadWeight() : nice_(NiceNow()), may_go_back_(MayRaise(nice_)) {}

void ThreadWeight::Set(bool for_long) {
  if (for_long == for_long_) return;
  for_long_ = for_long;
  SchedAttr now;
  if (!Get(&now)) return;
  SetTimes(now, for_long && may_go_back_ ? nice_ + kNicer : nice_, for_long ? kSliceNanos : 0);
}

void Yields::Ran(int64_t nanos) {
  constexpr int64_t kMostNanos = 200'000;
  since_ += nanos;
  if (since_ < kMostNanos) return;
  since_ = 0;
  std::this_thread::yield();
}

}  // namespace koios
