#include "import/load/ordered_pipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

namespace koios::import {
namespace {

struct Task {
  int number = 0;
  int result = 0;
};

TEST(OrderedPipelineTest, ResultsComeInTheOrderOfReading) {
  OrderedPipeline<Task> pipeline(4, 6);
  int next = 0;
  std::vector<int> seen;
  Status status = pipeline.Run(
      [&](Task* task) -> StatusOr<bool> {
        task->number = next++;
        return task->number < 500;
      },
      [](Task* task, uint64_t) {
        task->result = task->number * 2;
        return OkStatus();
      },
      [&](Task* task) {
        seen.push_back(task->result);
        return OkStatus();
      });
  ASSERT_TRUE(status.ok());
  ASSERT_EQ(seen.size(), 500u);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], 2 * i);
}

TEST(OrderedPipelineTest, NoMoreTasksInFlightThanAllowed) {
  constexpr int kMost = 5;
  OrderedPipeline<Task> pipeline(3, kMost);
  std::atomic<int> in_flight{0}, most{0};
  int next = 0;
  Status status = pipeline.Run(
      [&](Task*) -> StatusOr<bool> {
        if (next++ == 200) return false;
        const int now = ++in_flight;
        if (now > most) most = now;
        return true;
      },
      [](Task*, uint64_t) { return OkStatus(); },
      [&](Task*) {
        --in_flight;
        return OkStatus();
      });
  ASSERT_TRUE(status.ok());
  EXPECT_LE(most, kMost);
}

TEST(OrderedPipelineTest, TurnsFollowTheInput) {
  OrderedPipeline<Task> pipeline(4, 8);
  int next = 0;
  std::vector<int> turns;  // only ever touched in turn
  Status status = pipeline.Run(
      [&](Task* task) -> StatusOr<bool> {
        task->number = next++;
        return task->number < 100;
      },
      [&](Task* task, uint64_t number) {
        if (!pipeline.WaitForTurn(number)) return Cancelled("stopped");
        turns.push_back(task->number);
        return OkStatus();
      },
      [](Task*) { return OkStatus(); });
  ASSERT_TRUE(status.ok());
  ASSERT_EQ(turns.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(turns[static_cast<size_t>(i)], i);
}

TEST(OrderedPipelineTest, TheFirstErrorInOrderEndsIt) {
  for (const char* where : {"read", "work", "consume"}) {
    const std::string stage = where;
    OrderedPipeline<Task> pipeline(3, 4);
    int next = 0, consumed = 0;
    Status status = pipeline.Run(
        [&](Task* task) -> StatusOr<bool> {
          task->number = next++;
          if (stage == "read" && task->number == 20) return DataLoss("read");
          return task->number < 1000;
        },
        [&](Task* task, uint64_t number) {
          if (stage == "work" && task->number >= 20) return DataLoss("work");
          if (stage == "consume" && task->number > 21 && !pipeline.WaitForTurn(number + 5)) {
            return Cancelled("stopped");
          }
          return OkStatus();
        },
        [&](Task*) {
          if (stage == "consume" && consumed == 20) return DataLoss("consume");
          ++consumed;
          return OkStatus();
        });
    EXPECT_EQ(MessageOf(status), stage);
    EXPECT_EQ(consumed, 20) << stage;
  }
}

}  // namespace
}  // namespace koios::import
