#include "core/mutex.h"

#include <gtest/gtest.h>

#include <thread>

namespace koios {
namespace {

TEST(MutexTest, ExcludesAndSignals) {
  struct {
    Mutex mutex;
    CondVar changed;
    int value KOIOS_GUARDED_BY(mutex) = 0;
  } state;
  std::thread writer([&state] {
    for (int i = 0; i < 1'000; ++i) {
      MutexLock lock(&state.mutex);
      ++state.value;
      state.changed.NotifyAll();
    }
  });
  {
    MutexLock lock(&state.mutex);
    while (state.value < 1'000) state.changed.Wait(&state.mutex);
    EXPECT_EQ(state.value, 1'000);
  }
  writer.join();
}

TEST(MutexTest, WaitForEndsWithoutANotification) {
  Mutex mutex;
  CondVar changed;
  MutexLock lock(&mutex);
  int rounds = 0;
  while (changed.WaitFor(&mutex, 1'000)) ++rounds;  // spurious wake-ups are no time-outs
  EXPECT_GE(rounds, 0);
}

TEST(MutexTest, TryLockFailsWhileHeld) {
  Mutex mutex;
  mutex.Lock();
  std::thread other([&mutex] { EXPECT_FALSE(mutex.TryLock()); });
  other.join();
  mutex.Unlock();
  const bool free = mutex.TryLock();
  EXPECT_TRUE(free);
  if (free) mutex.Unlock();
}

}  // namespace
}  // namespace koios
