// Long keys are dear to compare: an order() takes few comparisons of them in one call.
#include "engine/op/collect_ops.h"

#include <string>

#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

TEST(OrderTest, LongKeysAreComparedFewAtATime) {
  TestHost host;
  plan::Order order;
  StatusOr<OperatorBundle> bundle = MakeOrder(order, 2, &host);
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  constexpr int kRows = 64;
  const std::string text(1 << 20, 'x');
  ValueList rows;
  for (int i = 0; i < kRows; ++i) {
    rows.push_back(Value::String(text + std::to_string(100 + i * 7 % kRows)));
  }
  const Batch input = Rows(rows);
  ASSERT_TRUE(bundle->barrier->Absorb(input).ok());
  int calls = 0;
  std::vector<std::string> ends;
  for (bool done = false; !done; ++calls) {
    Batch output;
    ASSERT_TRUE(bundle->barrier->Fire({}, &output, &done).ok());
    for (size_t row = 0; row < output.rows; ++row) {
      ends.push_back(output.slots[0].Get(row).AsString().substr(text.size()));
    }
  }
  EXPECT_GT(calls, 150);
  ASSERT_EQ(ends.size(), static_cast<size_t>(kRows));
  for (int i = 0; i < kRows; ++i) EXPECT_EQ(ends[i], std::to_string(100 + i));
  EXPECT_EQ(host.charged, 0);
}

}  // namespace
}  // namespace koios::engine
