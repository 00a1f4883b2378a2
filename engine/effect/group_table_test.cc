#include "engine/effect/group_table.h"

#include <gtest/gtest.h>

#include <functional>
#include <iterator>

#include "core/value_compare.h"
#include "engine/account/call_work.h"
#include "engine/op/op_test_support.h"

namespace koios::engine {
namespace {

using MakeKey = std::function<Value(int64_t)>;

// Each key as often as its number modulo 3, plus one, in rows one behind the other.
Batch RepeatedKeys(int64_t begin, int64_t end, const MakeKey& make) {
  Batch batch;
  batch.slots.resize(2);
  for (int64_t key = begin; key < end; ++key) {
    for (int64_t i = 0; i <= key % 3; ++i, ++batch.rows) {
      batch.slots[0].Append(Value::Long(1));
      batch.slots[1].Append(make(key));
    }
  }
  return batch;
}

// Tables that grow move what they have: a call that has moved much stops, and the next goes on
// where it stood.
TEST(GroupTableTest, ACallStopsWhenMuchWasMoved) {
  constexpr int64_t kKeys = 200'000, kStep = 500;
  const MakeKey kinds[] = {
      [](int64_t key) { return Value::Int(static_cast<int32_t>(key)); },
      [](int64_t key) { return Value::Long(key); },
      [](int64_t key) { return Value::String("key " + std::to_string(key)); },
      [](int64_t key) { return Value::Of(VertexRef{static_cast<uint64_t>(key)}); },
  };
  constexpr plan::Group::Value kValues[] = {plan::Group::SUM, plan::Group::COUNT};
  for (size_t i = 0; i < 2 * std::size(kinds); ++i) {
    const MakeKey& make = kinds[i / 2];
    TestHost host;
    GroupTable table(kValues[i % 2]);
    int64_t bytes = 0;
    size_t stopped = 0;
    for (int64_t begin = 0; begin < kKeys; begin += kStep) {
      const Batch batch = RepeatedKeys(begin, begin + kStep, make);
      ChargeAhead charge(&host, &bytes);
      for (RowPlace at; at.row < batch.rows;) {
        const size_t before = at.row;
        ASSERT_TRUE(table.AddRows(batch, &at, batch.rows, 1, 0, &charge).ok());
        ASSERT_GT(at.row, before);
        const size_t looked = (at.row - before) * GroupTable::kRowWork;
        stopped += at.row < batch.rows && looked < CallWork::kMost / 2 ? 1 : 0;
      }
    }
    EXPECT_GE(stopped, 8u);
    ASSERT_EQ(table.size(), static_cast<size_t>(kKeys));
    for (int64_t key = 0; key < kKeys; ++key) {
      const auto at = static_cast<size_t>(key);
      ASSERT_TRUE(Equivalent(table.KeyAt(at), make(key)));
      ASSERT_EQ(table.ValueAt(at).value()->AsInteger(), key % 3 + 1);
    }
  }
}

}  // namespace
}  // namespace koios::engine
