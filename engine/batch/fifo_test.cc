#include "engine/batch/fifo.h"

#include <deque>
#include <memory>

#include "core/random.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

TEST(FifoTest, WhatCameFirstGoesFirst) {
  Rng rng(5);
  Fifo<int> fifo;
  std::deque<int> model;
  for (int step = 0; step < 20'000; ++step) {
    if (!model.empty() && rng.Uniform(step / 5'000 % 2 == 0 ? 3 : 2) == 0) {
      fifo.pop_front();
      model.pop_front();
    } else {
      fifo.push_back(step);
      model.push_back(step);
    }
    ASSERT_EQ(fifo.size(), model.size());
    ASSERT_TRUE(std::equal(fifo.begin(), fifo.end(), model.begin(), model.end()));
    if (model.empty()) continue;
    ASSERT_EQ(fifo.front(), model.front());
    ASSERT_EQ(fifo.back(), model.back());
    ASSERT_EQ(fifo[model.size() / 2], model[model.size() / 2]);
  }
}

TEST(FifoTest, WhatHasGoneIsFree) {
  const auto item = std::make_shared<int>(1);
  Fifo<std::shared_ptr<int>> fifo;
  fifo.push_back(item);
  fifo.push_back(nullptr);
  fifo.pop_front();
  EXPECT_EQ(item.use_count(), 1);
}

}  // namespace
}  // namespace koios::engine
