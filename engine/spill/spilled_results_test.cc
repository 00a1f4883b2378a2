#include "engine/spill/spilled_results.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "core/testing/make_value.h"
#include "engine/query_account.h"

namespace koios::engine {
namespace {

ResultBatch BatchOf(const ValueList& values, std::vector<int64_t> bulk = {}) {
  ResultBatch batch;
  for (const Value& value : values) batch.column.Append(value);
  batch.bulk = std::move(bulk);
  return batch;
}

TEST(SpilledResultsTest, TheyComeAgainInTheirOrder) {
  SpillSpace space("/tmp");
  const auto disk = std::make_shared<std::atomic<uint64_t>>(0);
  const auto account = MakeQueryAccount(0);
  const Value path = PathOf({{Value::Int(1), Value::String("b")}, {{"a"}}});
  const Value list = ListOf({Value::Int(1), Value::Null()});
  {
    SpilledResults results(&space, disk);
    EXPECT_TRUE(results.empty());
    ASSERT_TRUE(results.Append(BatchOf({Value::Long(1), Value::Long(2)}, {1, 7})).ok());
    ASSERT_TRUE(results.Append(BatchOf({path, path})).ok());
    EXPECT_EQ(results.written_bytes(), space.used());
    EXPECT_EQ(*disk, space.used());
    StatusOr<ResultBatch> batch = results.Take(account);
    ASSERT_TRUE(batch.ok()) << batch.status();
    EXPECT_EQ(batch->column.size(), 2u);
    EXPECT_EQ(batch->bulk, (std::vector<int64_t>{1, 7}));
    EXPECT_EQ(batch->column.Get(1).AsInteger(), 2);
    ASSERT_TRUE(results.Append(BatchOf({list})).ok());  // behind what is still there
    EXPECT_EQ(account->used(), 0);
    batch = results.Take(account);
    ASSERT_TRUE(batch.ok());
    EXPECT_TRUE(Equivalent(batch->column.Get(1), path));
    EXPECT_TRUE(batch->bulk.empty());
    EXPECT_GT(account->used(), 0);
    batch = results.Take(account);
    ASSERT_TRUE(batch.ok());
    EXPECT_TRUE(Equivalent(batch->column.Get(0), list));
    EXPECT_TRUE(results.empty());
    EXPECT_EQ(space.used(), 0u);
    EXPECT_EQ(account->used(), 0);
    ASSERT_TRUE(results.Append(BatchOf({list})).ok());
  }
  EXPECT_EQ(space.used(), 0u);  // with what nobody took
}

TEST(SpilledResultsTest, AFullDiskAndPathsWithoutRoomAreErrors) {
  SpillSpace space("/tmp");
  const auto disk = std::make_shared<std::atomic<uint64_t>>(0);
  space.FailFromWrite(2);
  SpilledResults results(&space, disk);
  ASSERT_TRUE(results.Append(BatchOf({PathOf({{Value::Int(1)}, {}})})).ok());
  EXPECT_EQ(results.Append(BatchOf({Value::Int(1)})).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(results.Take(MakeQueryAccount(1)).status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(space.used(), 0u);
}

// Lists that share a path stand in memory once, on disk each with all that they reach.
TEST(SpilledResultsTest, WhatWouldBeMuchLargerOnDiskIsRefused) {
  SpillSpace space("/tmp");
  const auto disk = std::make_shared<std::atomic<uint64_t>>(0);
  SpilledResults results(&space, disk);
  const Value shared = ListOf({Value::String(std::string(6400, 'x'))});
  const Value of_many = ListOf(ValueList(100, shared));
  // 640 KB each, so one to a block.
  ASSERT_TRUE(results.Append(BatchOf(ValueList(10, of_many))).ok());
  size_t rows = 0, blocks = 0;
  for (; !results.empty(); ++blocks) {
    const StatusOr<ResultBatch> batch = results.Take(MakeQueryAccount(0));
    ASSERT_TRUE(batch.ok()) << batch.status();
    EXPECT_TRUE(Equivalent(batch->column.Get(0), of_many));
    rows += batch->column.size();
  }
  EXPECT_EQ(rows, 10u);
  EXPECT_EQ(blocks, 10u);
  const Status refused = results.Append(BatchOf({ListOf(ValueList(200, of_many))}));
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(refused)->reason, "ROW_TOO_LARGE");
  EXPECT_EQ(DetailOf(refused)->setting, "held-results-mb");
  EXPECT_EQ(space.used(), 0u);
}

// What operators of the same query have there counts as well.
TEST(SpilledResultsTest, AQueryHasHalfOfTheDiskWithItsResults) {
  SpillSpace space("/tmp", /*limit_bytes=*/size_t{1} << 20);
  const auto disk = std::make_shared<std::atomic<uint64_t>>((size_t{1} << 19) - 10);
  SpilledResults results(&space, disk);
  const Status refused = results.Append(BatchOf({Value::Int(1)}));
  EXPECT_EQ(DetailOf(refused)->reason, "SPILL_LIMIT");
  *disk = 0;
  EXPECT_TRUE(results.Append(BatchOf({Value::Int(1)})).ok());
}

}  // namespace
}  // namespace koios::engine
