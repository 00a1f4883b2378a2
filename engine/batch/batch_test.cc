// What the rows of a batch take.
#include "engine/batch/batch.h"

#include "core/path/path.h"
#include "core/testing/make_value.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

class PathBytesTest : public ::testing::Test {
 protected:
  Value Grown(const Value& path, int64_t objects) {
    Value grown = path;
    for (int64_t i = 0; i < objects; ++i) {
      CHECK(maker_.Take(static_cast<int64_t>(kNode)).ok());
      grown = Made(maker_.Append(grown, Value::Long(i), nullptr));
    }
    return grown;
  }

  static constexpr size_t kNode = sizeof(PathNode);
  const std::shared_ptr<MemoryAccount> account_ = std::make_shared<MemoryAccount>("test");
  const PathLedger::Owner ledger_ = PathLedger::Charging(account_);
  PathMaker maker_{ledger_.get()};
};

TEST_F(PathBytesTest, RowsThatShareTakeWhatIsTheirOwn) {
  const Value trunk = Grown({}, 1000);
  Column column;
  for (int row = 0; row < 500; ++row) column.Append(Grown(trunk, 2));
  EXPECT_EQ(PathBytes(column), 500 * 2 * kNode);
  column.Clear();
  // In any order of lengths; the same path again is nothing more.
  for (const Value& path : {Grown(trunk, 3), trunk, trunk, Grown(trunk, 3)}) column.Append(path);
  EXPECT_EQ(PathBytes(column), 4 * kNode);
}

TEST_F(PathBytesTest, RowsThatShareNothingAreWide) {
  for (const size_t length : {3, 30, 300}) {
    Column column;
    for (int row = 0; row < 100; ++row) column.Append(Grown({}, static_cast<int64_t>(length)));
    EXPECT_EQ(PathBytes(column), 100 * length * kNode);
    EXPECT_EQ(RowLimit(PathBytes(column), 100),
              std::min(kBatchRows, kBatchBytes / (length * kNode)));
  }
}

// Where nobody looks that far they are taken to share nothing; one row has nobody to share with.
TEST_F(PathBytesTest, WhatIsSharedFarBackCountsAsNotShared) {
  const Value trunk = Grown({}, 10);
  Column column;
  column.Append(Grown(trunk, 100));
  EXPECT_EQ(PathBytes(column), 0u);
  column.Append(Grown(trunk, 100));
  EXPECT_EQ(PathBytes(column), 2 * 110 * kNode);
  column.Append(Grown({}, 100'000));
  column.Append(Grown({}, 100'000));
  EXPECT_LE(PathBytes(column), 4 * kBatchBytes);
}

TEST_F(PathBytesTest, OtherValuesAndPathsThatCountThemselvesAreNone) {
  Column column;
  column.Append(Value::Null());
  column.Append(PathMaker::Empty());
  column.Append(Made(Value::Of(PathData{{Value::Int(1)}, {}})));
  EXPECT_EQ(PathBytes(column), 0u);
  EXPECT_EQ(PathBytes(Column()), 0u);
}

}  // namespace
}  // namespace koios::engine
