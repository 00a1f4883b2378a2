#include "core/thread_priority.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
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

TEST(ThreadPriorityTest, WhoAnswersShortQueriesHasTheWeightThatItBeganWith) {
  std::thread([] {
    const int before = Nice();
    ThreadWeight weight;
    weight.Set(true);
    EXPECT_TRUE(weight.is_for_long());
    EXPECT_TRUE(Nice() == before || Nice() == std::min(before + 5, 19)) << Nice();
    weight.Set(false);
    EXPECT_EQ(Nice(), before);
  }).join();
}

}  // namespace
}  // namespace koios
