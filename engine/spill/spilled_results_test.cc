#include "engine/spill/spilled_results.h"

#include <gtest/gtest.h>

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
  const auto account = MakeQueryAccount(0);
  const Value path = PathOf({{Value::Int(1), Value::String("b")}, {{"a"}}});
  const Value list = ListOf({Value::Int(1), Value::Null()});
  {
    SpilledResults results(&space);
    EXPECT_TRUE(results.empty());
    ASSERT_TRUE(results.Append(BatchOf({Value::Long(1), Value::Long(2)}, {1, 7})).ok());
    ASSERT_TRUE(results.Append(BatchOf({path, path})).ok());
    EXPECT_EQ(results.written_bytes(), space.used());
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
  space.FailFromWrite(2);
  SpilledResults results(&space);
  ASSERT_TRUE(results.Append(BatchOf({PathOf({{Value::Int(1)}, {}})})).ok());
  EXPECT_EQ(results.Append(BatchOf({Value::Int(1)})).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(results.Take(MakeQueryAccount(1)).status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(space.used(), 0u);
}

}  // namespace
}  // namespace koios::engine
