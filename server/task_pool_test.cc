#include "server/task_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace koios::server {
namespace {

constexpr int64_t kSoon = 1'000'000;               // a millisecond
constexpr int64_t kLongAfter = 3'600'000'000'000;  // an hour
constexpr int64_t kShortNanos = engine::FairTurns<int>::kShortNanos;

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

// Whoever waits for the next alarm may be the one that gets a task.
TEST(TaskPoolTest, AnAlarmRingsWhileWhoWaitedForItIsBusy) {
  TaskPool pool(2);
  for (int i = 0; i < 20; ++i) {
    std::promise<void> rang, ended;
    const std::shared_future<void> has_rung = rang.get_future().share();
    pool.RunAfter(kSoon, [&rang] { rang.set_value(); });
    pool.Run([&has_rung, &ended] {
      has_rung.wait();
      ended.set_value();
    });
    ended.get_future().get();
  }
}

// Nor does the next alarm wait for what the last one does.
TEST(TaskPoolTest, AnAlarmRingsWhileAnotherOneIsRung) {
  TaskPool pool(2);
  for (int i = 0; i < 20; ++i) {
    std::promise<void> rang, ended;
    const std::shared_future<void> has_rung = rang.get_future().share();
    pool.RunAfter(kSoon, [&has_rung, &ended] {
      has_rung.wait();
      ended.set_value();
    });
    pool.RunAfter(2 * kSoon, [&rang] { rang.set_value(); });
    ended.get_future().get();
  }
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
    const TaskPool::Line line = pool.Open("somebody", kShortNanos);
    for (int i = 0; i < 100; ++i) pool.Run([&ran] { ++ran; });
    for (int i = 0; i < 100; ++i) pool.Run(line, [&ran] { ++ran; });
    pool.Close(line);
  }
  EXPECT_EQ(ran, 200);
}

TEST(TaskPoolTest, WhatIsClosedEndsWithItsTasks) {
  const auto held = std::make_shared<int>(0);
  TaskPool pool(1);
  std::promise<void> free;
  const TaskPool::Line line = pool.Open("somebody");
  pool.Run(line, [is_free = free.get_future().share()] { is_free.wait(); });
  pool.Run(line, [held] {});
  pool.Close(line);
  pool.Close(line);
  std::promise<void> late;
  pool.Run(line, [&late] { late.set_value(); });  // behind what was in it
  free.set_value();
  late.get_future().get();
  std::promise<void> by_itself;
  pool.Run(line, [&by_itself] { by_itself.set_value(); });
  by_itself.get_future().get();
  EXPECT_EQ(held.use_count(), 1);
}

// One thread, held until all is queued; tasks say when they ran, and move the clock.
class TaskPoolTurnsTest : public testing::Test {
 protected:
  void SetUp() override {
    pool_.Run([is_free = free_.get_future().share()] { is_free.wait(); });
  }
  void Queue(TaskPool::Line line, char name, int64_t nanos) { QueueParts(line, name, nanos, 1); }
  // A task in parts, each of which comes back to the line.
  void QueueParts(TaskPool::Line line, char name, int64_t nanos, int parts) {
    ++left_;
    pool_.Run(line, [this, line, name, nanos, parts] {
      ran_ += name;
      clock_.Advance(nanos);
      if (parts > 1) QueueParts(line, name, nanos, parts - 1);
      if (--left_ == 0) all_ran_.set_value();
    });
  }
  // Names in the order in which they ran.
  std::string Ran() {
    free_.set_value();
    all_ran_.get_future().get();
    return ran_;
  }

  static constexpr int64_t kPart = 400'000;
  ManualClock clock_;
  std::promise<void> free_;
  std::atomic<int> left_{0};
  std::promise<void> all_ran_;
  std::string ran_;  // the pool's thread's
  TaskPool pool_{1, &clock_};
};

TEST_F(TaskPoolTurnsTest, ALineKeepsItsOrder) {
  const TaskPool::Line line = pool_.Open("a");
  for (char name = 'a'; name <= 'z'; ++name) Queue(line, name, kPart);
  EXPECT_EQ(Ran(), "abcdefghijklmnopqrstuvwxyz");
}

// Two clients that are given results without end, and a third's first task.
TEST_F(TaskPoolTurnsTest, WhoIsNewDoesNotWaitForThoseThatHaveHadMuch) {
  for (const char name : {'x', 'y'}) QueueParts(pool_.Open("much", kShortNanos), name, kPart, 50);
  QueueParts(pool_.Open("little"), 'n', kPart, 3);
  const std::string ran = Ran();
  EXPECT_LE(ran.find_last_of('n'), 3u);
}

TEST_F(TaskPoolTurnsTest, ManyRequestsOfOneAddressDoNotStallAnothers) {
  for (int i = 0; i < 200; ++i) Queue(pool_.Open("many"), 'm', kPart);
  for (int i = 0; i < 5; ++i) Queue(pool_.Open("few"), 'f', kPart);
  EXPECT_LE(Ran().find_last_of('f'), 11u);
}

TEST_F(TaskPoolTurnsTest, LinesShareByTimeNotByTasks) {
  QueueParts(pool_.Open("a", kShortNanos), 'a', 4 * kPart, 100);
  QueueParts(pool_.Open("b", kShortNanos), 'b', kPart, 100);
  const std::string ran = Ran();
  const auto begin = ran.begin();
  EXPECT_NEAR(static_cast<double>(std::count(begin, begin + 100, 'b')), 80.0, 4.0);
}

// Tasks that take for ever hold all threads but one.
TEST(TaskPoolTest, OneThreadIsForTheShort) {
  TaskPool pool(3);
  std::promise<void> free;
  const std::shared_future<void> is_free = free.get_future().share();
  std::vector<std::future<void>> ends;
  for (int i = 0; i < 5; ++i) {
    auto end = std::make_shared<std::promise<void>>();
    ends.push_back(end->get_future());
    pool.Run(pool.Open("much", kShortNanos), [is_free, end] {
      is_free.wait();
      end->set_value();
    });
  }
  std::promise<void> ran;
  pool.Run(pool.Open("little"), [&ran] { ran.set_value(); });
  ran.get_future().get();
  free.set_value();
  for (std::future<void>& end : ends) end.get();
}

}  // namespace
}  // namespace koios::server
