#include "core/thread_priority.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

namespace koios {
namespace {

// Of the calling thread.
int Nice() { return getpriority(PRIO_PROCESS, 0); }

TEST(ThreadPriorityTest, ItIsOfTheThreadThatAsks) {
  const int before = Nice();
  int there = 0;
  std::thread([&there] {
    ComputesForLong();
    there = Nice();
  }).join();
  EXPECT_EQ(there, std::min(before + 5, 19));
  EXPECT_EQ(Nice(), before);
}

// Until it has computed for as long as a window, with hardly a pause.
void Compute(ComputingThread* thread, int64_t waits) {
  for (int64_t window = 0; window <= ComputingThread::kWindowNanos + waits;) {
    const auto begin = std::chrono::steady_clock::now();
    volatile uint64_t x = 0;
    while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(500)) x = x + 1;
    const int64_t took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
    thread->Ran(took);
    thread->Waited(waits);
    window += took + waits;
  }
}

TEST(ThreadPriorityTest, WhoAnswersShortQueriesIsNoLongerOneWhoComputes) {
  std::thread([] {
    const int before = Nice();
    ComputingThread thread;
    Compute(&thread, 0);
    EXPECT_TRUE(thread.computes_for_long());
    EXPECT_GE(Nice(), before);
    Compute(&thread, 1'000'000);
    EXPECT_FALSE(thread.computes_for_long());
    EXPECT_EQ(Nice(), before);
    thread.Ran(2 * ComputingThread::kWindowNanos);  // for the disk: no processor was used
    EXPECT_FALSE(thread.computes_for_long());
  }).join();
}

}  // namespace
}  // namespace koios
