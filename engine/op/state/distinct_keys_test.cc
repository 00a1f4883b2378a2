// Keys of all kinds, in columns of their kind and of others, beside a set of Values.
#include "engine/op/state/distinct_keys.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/random.h"
#include "core/testing/rounds.h"
#include "engine/account/call_work.h"
#include "engine/op/op_test_support.h"

namespace koios::engine {
namespace {

Value Drawn(Rng* rng) {
  const auto number = static_cast<int64_t>(rng->Uniform(6)) - 3;
  switch (rng->Uniform(11)) {
    case 0:
      return Value::Int(static_cast<int32_t>(number));
    case 1:
      return Value::Long(number);
    case 2:
      return Value::Double(static_cast<double>(number));
    case 3:
      return Value::Double(number < 0 ? std::numeric_limits<double>::quiet_NaN() : -0.0);
    case 4:
      return Value::String(std::string(static_cast<size_t>(number + 3) * 7, 'a'));
    case 5:
      return Value::Of(VertexRef{static_cast<uint64_t>(number + 3)});
    case 6:
      return Value::Of(EdgeRef{.id = static_cast<uint64_t>(number + 3), .out = {}, .in = {}});
    case 7:
      return Value::Bool(number > 0);
    case 8:
      return Value::Float(static_cast<float>(number));
    case 9:
      return Value::List({Value::Long(number), Value::String("x")}).value();
    default:
      return Value::Null();
  }
}

// A batch of one kind as often as of all, with absent keys, sliced and gathered.
Batch DrawnBatch(size_t slots, Rng* rng) {
  constexpr size_t kRows = 40;
  Batch batch;
  batch.slots.resize(slots);
  std::vector<uint32_t> picked(kRows);
  for (uint32_t& row : picked) row = static_cast<uint32_t>(rng->Uniform(kRows));
  for (Column& column : batch.slots) {
    const bool mixed = rng->Chance(0.3), absent = rng->Chance(0.3);
    const uint64_t seed = rng->Next();
    Rng kind(seed);
    const ValueKind only = Drawn(&kind).kind();
    while (column.size() < 2 * kRows) {
      const Value value = Drawn(rng);
      if (!mixed && value.kind() != only) continue;
      if (absent && rng->Chance(0.2)) {
        column.AppendAbsent();
      } else {
        column.Append(value);
      }
    }
    column = column.Slice(kRows / 2, kRows);
    if (rng->Chance(0.3)) column = column.Gather(picked);
  }
  batch.rows = kRows;
  return batch;
}

using Values = absl::flat_hash_set<Value, ValueHash, ValueEquivalent>;

// True: the row has a key that is in neither.
bool AddNaively(const Batch& batch, size_t row, const Values& passed, Values* met) {
  ValueList parts;
  for (const Column& column : batch.slots) {
    if (column.IsAbsent(row)) return false;
    parts.push_back(column.Get(row));
  }
  const Value key = Value::List(std::move(parts)).value();
  return !passed.contains(key) && met->insert(key).second;
}

class DistinctKeysTest : public ::testing::TestWithParam<size_t> {};

TEST_P(DistinctKeysTest, AsASetOfValues) {
  std::vector<uint32_t> slots(GetParam());
  for (uint32_t i = 0; i < slots.size(); ++i) slots[i] = i;
  const KeyReader reader(slots);
  for (uint64_t seed = 1; seed <= TestRounds(40, 10); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    TestHost host;
    DistinctKeys passed, met;
    Values naive_passed, naive_met;
    for (int i = 0; i < 20; ++i) {
      const Batch batch = DrawnBatch(slots.size(), &rng);
      const bool into_passed = rng.Chance(0.3), row_by_row = rng.Chance(0.3);
      DistinctKeys* const keys = into_passed ? &passed : &met;
      std::vector<uint32_t> fresh, expected;
      {
        ChargeAhead charge(&host, keys->mutable_bytes());
        if (row_by_row && into_passed) {
          for (uint32_t row = 0; row < batch.rows; ++row) {
            const auto is_new = keys->AddRow(reader, batch, row, &charge);
            ASSERT_TRUE(is_new.ok()) << is_new.status();
            if (*is_new) fresh.push_back(row);
          }
        } else {
          size_t row = 0;
          ASSERT_TRUE(keys->AddRows(reader, batch, &row, batch.rows,
                                    into_passed ? nullptr : &passed, &charge, &fresh)
                          .ok());
          ASSERT_EQ(row, batch.rows);
        }
      }
      for (uint32_t row = 0; row < batch.rows; ++row) {
        if (AddNaively(batch, row, into_passed ? Values() : naive_passed,
                       into_passed ? &naive_passed : &naive_met)) {
          expected.push_back(row);
        }
      }
      ASSERT_EQ(fresh, expected);
    }
    EXPECT_EQ(host.charged, passed.bytes() + met.bytes());
  }
}

INSTANTIATE_TEST_SUITE_P(Slots, DistinctKeysTest, ::testing::Values(1, 2, 3));

// Tables that grow move what they have: a call that has moved much stops, and the next goes on
// where it stood. Keys are found as well when they came in the rows just before.
TEST_P(DistinctKeysTest, ACallStopsWhenMuchWasMoved) {
  constexpr int64_t kKeys = 300'000;
  std::vector<uint32_t> slots(GetParam());
  for (uint32_t i = 0; i < slots.size(); ++i) slots[i] = i;
  const KeyReader reader(slots);
  TestHost host;
  DistinctKeys keys;
  size_t stopped = 0;
  for (int64_t begin = 0; begin < kKeys;) {
    Batch batch;
    batch.slots.resize(slots.size());
    std::vector<uint32_t> expected;
    for (; batch.rows < kBatchRows && begin < kKeys; ++begin) {
      expected.push_back(static_cast<uint32_t>(batch.rows));
      for (int64_t i = 0; i <= begin % 3; ++i, ++batch.rows) {
        for (size_t slot = 0; slot < slots.size(); ++slot) {
          batch.slots[slot].Append(slot == 1 ? Value::String(std::to_string(begin))
                                             : Value::Long(begin));
        }
      }
    }
    std::vector<uint32_t> fresh;
    ChargeAhead charge(&host, keys.mutable_bytes());
    for (size_t row = 0; row < batch.rows;) {
      const size_t before = row, known = fresh.size();
      ASSERT_TRUE(keys.AddRows(reader, batch, &row, batch.rows, nullptr, &charge, &fresh).ok());
      ASSERT_GT(row, before);
      const size_t looked = row - before + fresh.size() - known;
      stopped += row < batch.rows && looked < CallWork::kMost / 2 ? 1 : 0;
    }
    ASSERT_EQ(fresh, expected);
  }
  EXPECT_GT(stopped, 16u);
}

// Texts, words and values, as many of each.
TEST(DistinctKeysChargeTest, ManyAreFreedInSharesWithTheirCharge) {
  constexpr int64_t kOfEach = 20'000;
  const KeyReader reader({0});
  TestHost host;
  DistinctKeys keys;
  for (int64_t i = 0; i < kOfEach; i += 500) {
    ValueList values;
    for (int64_t k = i; k < i + 500; ++k) {
      values.push_back(Value::Long(k));
      values.push_back(Value::String("a text that is not short " + std::to_string(k)));
      values.push_back(*Value::List({Value::Long(k), Value::String("of a list")}));
    }
    const Batch batch = Rows(values);
    std::vector<uint32_t> fresh;
    ChargeAhead charge(&host, keys.mutable_bytes());
    for (size_t row = 0; row < batch.rows;) {
      ASSERT_TRUE(keys.AddRows(reader, batch, &row, batch.rows, nullptr, &charge, &fresh).ok());
    }
    ASSERT_EQ(fresh.size(), batch.rows);
  }
  int64_t freed = 0, most = 0;
  size_t calls = 1;
  for (bool all = false; !all; ++calls) {
    const int64_t before = freed;
    all = keys.FreeSome(&freed);
    most = std::max(most, freed - before);
  }
  EXPECT_EQ(freed, keys.bytes());
  EXPECT_GT(calls, 3 * kOfEach / 1024);
  EXPECT_LT(most, int64_t{1} << 20);
}

// A key is charged once, whatever it is made of; what has no room is not kept.
TEST(DistinctKeysChargeTest, OfNewKeysAlone) {
  const KeyReader reader({0, 1});
  TestHost host;
  DistinctKeys keys;
  const Batch batch = Rows({Value::String(std::string(1000, 'a')), Value::Long(1)},
                           {Value::Long(7), Value::Long(7)});
  std::vector<uint32_t> fresh;
  const auto add = [&] {
    ChargeAhead charge(&host, keys.mutable_bytes());
    size_t row = 0;
    return keys.AddRows(reader, batch, &row, 2, nullptr, &charge, &fresh);
  };
  ASSERT_TRUE(add().ok());
  const int64_t charged = host.charged;
  EXPECT_GT(charged, 1000);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(add().ok());
  EXPECT_EQ(host.charged, charged);
  EXPECT_EQ(fresh.size(), 2);

  TestHost full;
  full.limit = 500;
  DistinctKeys none;
  ChargeAhead charge(&full, none.mutable_bytes());
  EXPECT_EQ(none.AddRow(reader, batch, 0, &charge).status().code(), StatusCode::kResourceExhausted);
  EXPECT_LT(none.bytes(), 500);  // room for it in the table, but not the key
}

}  // namespace
}  // namespace koios::engine
