// std::mutex and std::condition_variable with clang's thread-safety annotations, which find a
// guarded member touched without its lock at compile time. std's types underneath, as the thread
// sanitizer sees them.
//
//   Mutex mutex_;
//   int count_ KOIOS_GUARDED_BY(mutex_) = 0;
//   ...
//   MutexLock lock(&mutex_);
//   while (count_ == 0) changed_.Wait(&mutex_);
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#if defined(__clang__)
#define KOIOS_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define KOIOS_THREAD_ANNOTATION(x)
#endif

#define KOIOS_CAPABILITY(name) KOIOS_THREAD_ANNOTATION(capability(name))
#define KOIOS_SCOPED_CAPABILITY KOIOS_THREAD_ANNOTATION(scoped_lockable)
#define KOIOS_GUARDED_BY(mutex) KOIOS_THREAD_ANNOTATION(guarded_by(mutex))
#define KOIOS_PT_GUARDED_BY(mutex) KOIOS_THREAD_ANNOTATION(pt_guarded_by(mutex))
#define KOIOS_REQUIRES(...) KOIOS_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define KOIOS_EXCLUDES(...) KOIOS_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define KOIOS_ACQUIRE(...) KOIOS_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define KOIOS_RELEASE(...) KOIOS_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define KOIOS_TRY_ACQUIRE(...) KOIOS_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))

namespace koios {

class KOIOS_CAPABILITY("mutex") Mutex {
 public:
  void Lock() KOIOS_ACQUIRE() { mutex_.lock(); }
  void Unlock() KOIOS_RELEASE() { mutex_.unlock(); }
  bool TryLock() KOIOS_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class KOIOS_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) KOIOS_ACQUIRE(mutex) : mutex_(mutex) { mutex_->Lock(); }
  ~MutexLock() KOIOS_RELEASE() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

// Waits return at a notification, and at times without one: wait in a loop over the condition.
class CondVar {
 public:
  void Wait(Mutex* mutex) KOIOS_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    changed_.wait(lock);
    lock.release();
  }
  // False when the time has passed without a notification.
  bool WaitFor(Mutex* mutex, int64_t nanos) KOIOS_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    const auto status = changed_.wait_for(lock, std::chrono::nanoseconds(nanos));
    lock.release();
    return status == std::cv_status::no_timeout;
  }
  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace koios
