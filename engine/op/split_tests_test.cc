// In many calls or in one, the branches get the same rows.
#include "engine/op/split_tests.h"

#include <string>

#include "core/value_codec.h"
#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

// function(slot 0, constant)
Expression TestOf(const char* function, const Value& constant) {
  plan::Expr expr;
  expr.add_nodes()->set_slot(0);
  expr.add_nodes()->set_constant(EncodeValue(constant));
  plan::Expr::Call* call = expr.add_nodes()->mutable_call();
  call->set_function(function);
  call->add_args(0);
  call->add_args(1);
  StatusOr<Expression> bound = Expression::Bind(expr, 1);
  EXPECT_TRUE(bound.ok()) << bound.status();
  return *std::move(bound);
}

TEST(SplitTestsTest, BranchesGetTheSameRowsHoweverManyCallsItTakes) {
  for (const bool copy : {false, true}) {
    for (const size_t bytes : {size_t{1}, size_t{1} << 20}) {
      TestHost host;
      std::vector<Expression> tests;
      tests.push_back(TestOf("endingWith", Value::String("1")));
      tests.push_back(TestOf("containing", Value::String("x1")));
      tests.push_back(TestOf("startingWith", Value::String("x")));
      SplitTests split(std::move(tests), copy);
      ValueList rows;
      for (int i = 0; i < 30; ++i) {
        rows.push_back(Value::String(std::string(bytes, 'x') + std::to_string(i)));
      }
      const Batch input = Rows(rows);
      std::unique_ptr<StreamCursor> cursor;
      std::vector<std::vector<uint32_t>> picked;
      int calls = 0;
      for (StatusOr<bool> done = false; !*done; ++calls) {
        done = split.Pick(input, host.sources(), &cursor, &picked);
        ASSERT_TRUE(done.ok()) << done.status();
      }
      EXPECT_EQ(cursor, nullptr);
      EXPECT_EQ(calls == 1, bytes == 1);
      ASSERT_EQ(picked.size(), 3u);
      EXPECT_EQ(picked[0], (std::vector<uint32_t>{1, 11, 21}));
      EXPECT_EQ(picked[1].size(), copy ? 11u : 9u);
      EXPECT_EQ(picked[2].size(), copy ? 30u : 18u);
    }
  }
}

}  // namespace
}  // namespace koios::engine
