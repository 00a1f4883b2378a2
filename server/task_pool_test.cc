#include "server/task_pool.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>

namespace koios::server {
namespace {

constexpr int64_t kSoon = 1'000'000;               // a millisecond
constexpr int64_t kLongAfter = 3'600'000'000'000;  // an hour

TEST(TaskPoolTest, AnAlarmRingsWhileNothingElseRuns) {
  TaskPool pool(2);
  std::promise<void> rang;
  pool.RunAfter(kLongAfter, [] { ADD_FAILURE(); });
  pool.RunAfter(kSoon, [&rang] { rang.set_value(); });
  rang.get_future().get();
}

TEST(TaskPoolTest, AnAlarmOfThePastRingsAtOnce) {
  TaskPool pool(1);
  std::promise<void> rang;
  pool.RunAfter(-kSoon, [&rang] { rang.set_value(); });
  rang.get_future().get();
}

TEST(TaskPoolTest, AForgottenAlarmIsGone) {
  const auto held = std::make_shared<int>(0);
  TaskPool pool(1);
  const TaskPool::Alarm alarm = pool.RunAfter(kLongAfter, [held] { ADD_FAILURE(); });
  EXPECT_NE(alarm, 0u);
  EXPECT_EQ(held.use_count(), 2);
  pool.Forget(alarm);
  EXPECT_EQ(held.use_count(), 1);
  pool.Forget(alarm);
  pool.Forget(0);
}

TEST(TaskPoolTest, TheEndRunsTasksAndNoAlarms) {
  int ran = 0;
  {
    TaskPool pool(1);
    pool.RunAfter(kLongAfter, [] { ADD_FAILURE(); });
    for (int i = 0; i < 100; ++i) pool.Run([&ran] { ++ran; });
  }
  EXPECT_EQ(ran, 100);
}

}  // namespace
}  // namespace koios::server
