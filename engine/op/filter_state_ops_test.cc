// Dedup before a dedup(): what it drops, what it lets pass, what it keeps. TimeLimit.
#include "engine/op/filter_state_ops.h"

#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

Value Vertex(uint64_t number) { return Value::Of(VertexRef::Make(0, number)); }

std::unique_ptr<StreamOperator> MakeEarly(bool each_iteration, OperatorHost* host) {
  plan::Dedup op;
  op.add_key_slots(0);
  op.set_stage(plan::PARTIAL);
  op.set_each_iteration(each_iteration);
  StatusOr<OperatorBundle> bundle = MakeDedup(op, 2, host);
  EXPECT_TRUE(bundle.ok());
  return std::move(bundle->stream);
}

std::vector<uint32_t> Passing(StreamOperator* op, const Batch& input) {
  OpOutput output;
  bool done = false;
  EXPECT_TRUE(op->Process(input, &output, &done).ok());
  EXPECT_TRUE(done);
  if (!output.identity) {
    EXPECT_TRUE(output.has_bulk && output.bulk.empty());  // each once
  }
  if (!output.identity) return output.origin;
  std::vector<uint32_t> all;
  for (size_t row = 0; row < input.rows; ++row) all.push_back(static_cast<uint32_t>(row));
  return all;
}

using RowNumbers = std::vector<uint32_t>;

TEST(EarlyDedupTest, TheFirstOfEqualVerticesPasses) {
  TestHost host;
  const auto op = MakeEarly(false, &host);
  EXPECT_EQ(Passing(op.get(), Rows({Vertex(1), Vertex(2), Vertex(1)}, {}, {5, 1, 1})),
            RowNumbers({0, 1}));
  EXPECT_EQ(Passing(op.get(), Rows({Vertex(2), Vertex(3)})), RowNumbers({1}));
  op->Release({});
  EXPECT_EQ(host.charged, 0);
  EXPECT_EQ(Passing(op.get(), Rows({Vertex(2), Vertex(3)})), RowNumbers({0, 1}));
}

TEST(EarlyDedupTest, WhatIsNoVertexPasses) {
  TestHost host;
  const auto op = MakeEarly(false, &host);
  EXPECT_EQ(Passing(op.get(), Rows({Value::Int(1), Value::Int(1)})), RowNumbers({0, 1}));
  EXPECT_EQ(Passing(op.get(), Rows({Vertex(1), Value::Int(1), Vertex(1)})), RowNumbers({0, 1, 2}));
  EXPECT_EQ(host.charged, 0);
}

TEST(EarlyDedupTest, IterationsAreToldApartWhereTheyAreCounted) {
  for (const bool each : {false, true}) {
    TestHost host;
    const auto op = MakeEarly(each, &host);
    EXPECT_EQ(Passing(op.get(), Rows({Vertex(1)}, {}, {}, {1})), RowNumbers({0}));
    EXPECT_EQ(Passing(op.get(), Rows({Vertex(1)}, {}, {}, {2})),
              each ? RowNumbers({0}) : RowNumbers());
    EXPECT_EQ(Passing(op.get(), Rows({Vertex(1)}, {}, {}, {1})), RowNumbers());
    op->Release({});
    EXPECT_EQ(host.charged, 0);
  }
}

TEST(EarlyDedupTest, InstancesAreToldApart) {
  TestHost host;
  const auto op = MakeEarly(false, &host);
  Batch batch = Rows({Vertex(1), Vertex(1), Vertex(1)});
  batch.runs = {{{0, 1}, {}, 1, 0}, {{0, 2}, {}, 2, 0}};
  EXPECT_EQ(Passing(op.get(), batch), RowNumbers({0, 1}));
  op->Release({0, 1});
  op->Release({0, 2});
  EXPECT_EQ(host.charged, 0);
}

std::unique_ptr<StreamOperator> MakeTimed(int64_t milliseconds, OperatorHost* host) {
  plan::TimeLimit op;
  op.set_milliseconds(milliseconds);
  StatusOr<OperatorBundle> bundle = MakeTimeLimit(op, host);
  EXPECT_TRUE(bundle.ok());
  return std::move(bundle->stream);
}

size_t NumPassing(StreamOperator* op, const Batch& input) {
  OpOutput output;
  bool done = false;
  EXPECT_TRUE(op->Process(input, &output, &done).ok());
  EXPECT_TRUE(done);
  return output.rows(input);
}

TEST(TimeLimitTest, BeginsWithTheFirstRowOfAnInstance) {
  constexpr int64_t kMilli = 1'000'000;
  TestHost host;
  const auto op = MakeTimed(10, &host);
  Batch one = Rows({Value::Int(1)}), other = Rows({Value::Int(1), Value::Int(2)});
  one.runs[0].instance = {0, 1};
  other.runs[0].instance = {0, 2};
  host.time.Advance(50 * kMilli);
  EXPECT_EQ(NumPassing(op.get(), one), 1u);
  host.time.Advance(9 * kMilli);
  EXPECT_EQ(NumPassing(op.get(), one), 1u);
  EXPECT_EQ(NumPassing(op.get(), other), 2u);
  EXPECT_EQ(host.closed, 0);
  host.time.Advance(kMilli);
  EXPECT_EQ(NumPassing(op.get(), one), 0u);
  EXPECT_EQ(host.closed, 1);
  EXPECT_EQ(NumPassing(op.get(), other), 2u);
  op->Release({0, 1});
  op->Release({0, 2});
  EXPECT_EQ(host.charged, 0);
  EXPECT_EQ(NumPassing(op.get(), one), 1u);
}

TEST(TimeLimitTest, IterationsHaveOneTime) {
  TestHost host;
  const auto op = MakeTimed(1, &host);
  EXPECT_EQ(NumPassing(op.get(), Rows({Value::Int(1)}, {}, {}, {1})), 1u);
  host.time.Advance(1'000'000);
  EXPECT_EQ(NumPassing(op.get(), Rows({Value::Int(1)}, {}, {}, {2})), 0u);
}

TEST(TimeLimitTest, TimesThatNeverEndAndThatNeverBegin) {
  TestHost host;
  EXPECT_EQ(NumPassing(MakeTimed(INT64_MAX, &host).get(), Rows({Value::Int(1)})), 1u);
  EXPECT_EQ(NumPassing(MakeTimed(0, &host).get(), Rows({Value::Int(1)})), 0u);
  EXPECT_EQ(NumPassing(MakeTimed(-5, &host).get(), Rows({Value::Int(1)})), 0u);
}

// No query fails for it, and no row is lost.
TEST(EarlyDedupTest, WithoutRoomRowsPass) {
  TestHost host;
  const auto op = MakeEarly(false, &host);
  host.limit = 40'000;
  size_t passed = 0;
  for (uint64_t round = 0; round < 2; ++round) {
    for (uint64_t first = 0; first < 20'000; first += 1'000) {
      std::vector<Value> vertices;
      for (uint64_t i = first; i < first + 1'000; ++i) vertices.push_back(Vertex(i << 20));
      passed += Passing(op.get(), Rows(vertices)).size();
      EXPECT_LE(host.charged, host.limit);
    }
  }
  EXPECT_EQ(passed, 40'000);
  op->Release({});
  EXPECT_EQ(host.charged, 0);
  host.limit = 100;
  EXPECT_EQ(Passing(op.get(), Rows({Vertex(1), Vertex(1)})), RowNumbers({0, 1}));
  EXPECT_EQ(host.charged, 0);
}

}  // namespace
}  // namespace koios::engine
