// What rows hold is no reason for a call to take long: filters and projections take so many rows at
// a time as have about RowSlices::kCallBytes, and what is too much in one value goes on in the next
// call. Counts of work, never times.
#include "engine/op/row_ops.h"

#include <string>

#include "core/testing/make_value.h"
#include "core/value_codec.h"
#include "core/value_compare.h"
#include "engine/op/op_test_support.h"
#include "engine/op/state/row_slices.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

OperatorBundle FilterOf(const plan::Expr& predicate, OperatorHost* host) {
  plan::Filter filter;
  *filter.mutable_predicate() = predicate;
  StatusOr<OperatorBundle> bundle = MakeFilter(filter, 2, host);
  EXPECT_TRUE(bundle.ok()) << bundle.status();
  return *std::move(bundle);
}

OperatorBundle ProjectOf(const plan::Expr& expr, plan::Project::Absent absent, OperatorHost* host) {
  plan::Project project;
  *project.mutable_expr() = expr;
  project.set_absent(absent);
  StatusOr<OperatorBundle> bundle = MakeProject(project, 2, host);
  EXPECT_TRUE(bundle.ok()) << bundle.status();
  return *std::move(bundle);
}

struct RowsRan {
  int calls = 0;
  size_t most_rows = 0;  // that came out of one call
  std::vector<uint32_t> origin;
  ValueList values;
};

// As the driver calls it, until the batch is done.
RowsRan RunAll(StreamOperator* op, const Batch& input) {
  RowsRan ran;
  std::unique_ptr<StreamCursor> cursor;
  for (bool done = false; !done; ++ran.calls) {
    OpOutput output;
    output.cursor = std::move(cursor);
    EXPECT_TRUE(op->Process(input, &output, &done).ok());
    cursor = std::move(output.cursor);
    const size_t rows = output.rows(input);
    ran.most_rows = std::max(ran.most_rows, rows);
    for (size_t i = 0; i < rows; ++i) {
      ran.origin.push_back(output.identity ? static_cast<uint32_t>(i) : output.origin[i]);
      if (output.slot < 0) continue;
      ran.values.push_back(output.column.IsAbsent(i) ? Value::Null() : output.column.Get(i));
    }
  }
  return ran;
}

constexpr size_t kLong = 4 << 20;

TEST(RowOpsTest, AFilterTakesFewLongRowsAtATime) {
  TestHost host;
  const OperatorBundle filter = FilterOf(CallWith("containing", {Value::String("y")}), &host);
  Batch input;
  input.slots.resize(2);
  input.slots[0] = Column(Column::Kind::kValue);  // a value once, however many rows have it
  const Value without = Value::String(std::string(kLong, 'x'));
  const Value with = Value::String(std::string(kLong, 'x') + "y");
  for (int i = 0; i < 200; ++i) input.slots[0].Append(i < 100 ? without : with);
  input.rows = 200;
  input.runs.push_back({{}, {}, 200, 0});
  for (int again = 0; again < 2; ++again) {
    const RowsRan ran = RunAll(filter.stream.get(), input);
    EXPECT_GT(ran.calls, 180);  // the first call takes some before it knows
    EXPECT_EQ(ran.origin.size(), 100u);
    EXPECT_EQ(ran.origin.front(), 100u);
    EXPECT_EQ(ran.origin.back(), 199u);
  }
}

TEST(RowOpsTest, ShortRowsGoAllAtOnce) {
  TestHost host;
  const OperatorBundle filter = FilterOf(CallWith("gt", {Value::Long(499)}), &host);
  ValueList rows;
  for (int64_t i = 0; i < 1000; ++i) rows.push_back(Value::Long(i));
  const Batch input = Rows(rows);
  EXPECT_EQ(RunAll(filter.stream.get(), input).calls, 1);
  const RowsRan ran = RunAll(filter.stream.get(), input);
  EXPECT_EQ(ran.calls, 1);
  EXPECT_EQ(ran.origin.size(), 500u);
  EXPECT_EQ(ran.origin.front(), 500u);
}

// What comes out is as much work for those behind as what goes in.
TEST(RowOpsTest, ALongConstantMakesSmallBatches) {
  TestHost host;
  plan::Expr constant;
  constant.add_nodes()->set_constant(EncodeValue(Value::String(std::string(kLong, 'x'))));
  const OperatorBundle project = ProjectOf(constant, plan::Project::DROP_ROW, &host);
  const RowsRan ran = RunAll(project.stream.get(), Rows(ValueList(64, Value::Long(1))));
  EXPECT_EQ(ran.values.size(), 64u);
  EXPECT_GT(ran.calls, 50);
  EXPECT_LE(ran.most_rows, 8u);
}

// In slices and at once the rows are the same, whatever is done with rows that give nothing.
TEST(RowOpsTest, SlicesGiveWhatTheWholeBatchGives) {
  for (const auto absent :
       {plan::Project::DROP_ROW, plan::Project::NULL_VALUE, plan::Project::LEAVE_ABSENT}) {
    for (const size_t bytes : {size_t{10}, kLong / 4}) {
      TestHost host;
      const OperatorBundle project =
          ProjectOf(CallWith("map_get", {Value::String("a")}), absent, &host);
      const std::string text(bytes, 'x');
      ValueList rows;
      for (int i = 0; i < 60; ++i) {
        rows.push_back(i % 3 == 0 ? Value::Int(i)
                                  : MapOf({{Value::String(i % 3 == 1 ? "a" : "b"),
                                            Value::String(text + std::to_string(i))}}));
      }
      const RowsRan ran = RunAll(project.stream.get(), Rows(rows));
      EXPECT_EQ(ran.calls > 5, bytes > 10);
      const bool drops = absent == plan::Project::DROP_ROW;
      ASSERT_EQ(ran.values.size(), drops ? 20u : 60u);
      for (size_t i = 0; i < ran.values.size(); ++i) {
        const uint32_t row = drops ? static_cast<uint32_t>(3 * i + 1) : static_cast<uint32_t>(i);
        EXPECT_EQ(ran.origin[i], row);
        const Value wanted =
            row % 3 == 1 ? Value::String(text + std::to_string(row)) : Value::Null();
        EXPECT_TRUE(Equivalent(ran.values[i], wanted)) << i;
      }
    }
  }
}

// One value that is too much for one call.
TEST(RowOpsTest, ALongListIsSortedInManyCalls) {
  TestHost host(int64_t{64} << 20);
  ValueList members;
  for (int64_t i = 0; i < 300'000; ++i) members.push_back(Value::Long(i * 7919 % 300'007));
  const OperatorBundle sorting =
      ProjectOf(CallWith("list_order", {Value::String("values"), Value::Bool(false)}),
                plan::Project::DROP_ROW, &host);
  const RowsRan sorted = RunAll(sorting.stream.get(), Rows({ListOf(members), Value::Int(1)}));
  EXPECT_GT(sorted.calls, 50);
  ASSERT_EQ(sorted.values.size(), 2u);
  const ValueList& result = sorted.values[0].AsList();
  ASSERT_EQ(result.size(), members.size());
  EXPECT_TRUE(std::is_sorted(result.begin(), result.end(), [](const Value& a, const Value& b) {
    return a.AsInteger() < b.AsInteger();
  }));
  EXPECT_EQ(sorted.values[1].AsInteger(), 1);

  const OperatorBundle distinct =
      ProjectOf(CallWith("list_dedup", {}), plan::Project::DROP_ROW, &host);
  members.insert(members.end(), members.begin(), members.begin() + 1000);
  const RowsRan deduped = RunAll(distinct.stream.get(), Rows({ListOf(members)}));
  EXPECT_GT(deduped.calls, 4);
  EXPECT_EQ(deduped.values[0].AsList().size(), 300'000u);
}

// Long members are dear to compare.
TEST(RowOpsTest, LongMembersAreSortedFewAtATime) {
  TestHost host;
  ValueList members;
  for (int i = 0; i < 32; ++i) {
    members.push_back(Value::String(std::string(kLong / 8, 'x') + std::to_string(i * 7 % 32)));
  }
  const OperatorBundle sorting =
      ProjectOf(CallWith("list_order", {Value::String("values"), Value::Bool(true)}),
                plan::Project::DROP_ROW, &host);
  const RowsRan sorted = RunAll(sorting.stream.get(), Rows({ListOf(members)}));
  EXPECT_GT(sorted.calls, 2);
  EXPECT_TRUE(sorted.values[0].AsList().front().AsString().ends_with("x9"));
}

TEST(CoinTest, DrawsForEachTraverserOfABulk) {
  TestHost host;
  const Batch rows = Rows({Value::Int(1), Value::Int(1)}, {}, {100'000, 1});
  for (const double p : {0.0, 0.3, 1.0}) {
    plan::Expr expr;
    expr.add_nodes()->set_constant(EncodeValue(Value::Double(p)));
    plan::Expr::Call* const call = expr.add_nodes()->mutable_call();
    call->set_function("coin");
    call->add_args(0);
    const OperatorBundle coin = FilterOf(expr, &host);
    OpOutput output;
    bool done = false;
    ASSERT_TRUE(coin.stream->Process(rows, &output, &done).ok());
    if (p == 0.0) {
      EXPECT_TRUE(output.origin.empty());
      continue;
    }
    ASSERT_TRUE(output.has_bulk);
    EXPECT_NEAR(static_cast<double>(output.bulk[0]), p * 100'000, p == 1.0 ? 0 : 1000);
  }
}

}  // namespace
}  // namespace koios::engine
