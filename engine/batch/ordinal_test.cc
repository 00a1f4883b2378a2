// Ordinals sort as the sequences of numbers that they are, packed or not, in any mixture.
#include "engine/batch/ordinal.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/random.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

// What an ordinal means: marked numbers are above all others.
constexpr uint64_t kMark = kOrdinalEnd;
using Numbers = std::vector<uint64_t>;

Column One(const Numbers& numbers) {
  Column column(Column::Kind::kLong);
  column.AppendLong(0);
  for (const uint64_t number : numbers) AppendOrdinal(number, &column);
  return column;
}

uint64_t AnyNumber(Rng* rng) {
  const uint64_t most = uint64_t{1} << rng->Uniform(40);
  return std::min(rng->Uniform(most) + rng->Uniform(3), kOrdinalEnd - 1);
}

// A sequence, and the ordinal that was made of it by the same steps.
struct Row {
  Numbers numbers;
  Value ordinal;
};

void Enter(Numbers* numbers, Column* column) {
  numbers->push_back(kMark);
  EnterLoops(column);
}

Numbers::iterator Innermost(Numbers* numbers) {
  const auto found = std::find_if(numbers->rbegin(), numbers->rend(),
                                  [](uint64_t number) { return number >= kMark; });
  return found == numbers->rend() ? numbers->end() : std::prev(found.base());
}

Row RandomRow(Rng* rng) {
  Row row;
  Column column(Column::Kind::kLong);
  column.AppendLong(0);
  for (uint64_t steps = rng->Uniform(24); steps > 0; --steps) {
    const auto loop = Innermost(&row.numbers);
    switch (rng->Uniform(6)) {
      case 0:
        Enter(&row.numbers, &column);
        break;
      case 1:
        if (loop != row.numbers.end()) ++*loop;
        CountLoops(&column);
        break;
      case 2:
        if (loop != row.numbers.end()) *loop -= kMark;
        LeaveLoops(&column);
        break;
      default:
        row.numbers.push_back(rng->Chance(0.8) ? rng->Uniform(4) : AnyNumber(rng));
        AppendOrdinal(row.numbers.back(), &column);
    }
  }
  row.ordinal = column.Get(0);
  return row;
}

TEST(OrdinalTest, SortAsTheirNumbers) {
  Rng rng(5);
  std::vector<Row> rows;
  for (int i = 0; i < 1500; ++i) rows.push_back(RandomRow(&rng));
  size_t longs = 0;
  for (const Row& row : rows) longs += row.ordinal.kind() == ValueKind::kLong ? 1 : 0;
  EXPECT_GT(longs, rows.size() / 5);
  EXPECT_LT(longs, rows.size() * 4 / 5);
  for (const Row& a : rows) {
    for (const Row& b : rows) {
      ASSERT_EQ(CompareOrdinals(a.ordinal, b.ordinal), a.numbers <=> b.numbers);
    }
  }
}

TEST(OrdinalTest, NeighboursAndEndsOfEachRange) {
  std::vector<uint64_t> numbers = {0, kOrdinalEnd - 1, kOrdinalEnd - 2};
  for (const uint64_t edge : {3, 19, 275, 16659, 4210963}) {
    for (int d = -2; d <= 2; ++d) numbers.push_back(edge + static_cast<uint64_t>(d));
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  for (size_t i = 0; i + 1 < numbers.size(); ++i) {
    const Value low = One({numbers[i]}).Get(0), high = One({numbers[i + 1]}).Get(0);
    EXPECT_EQ(CompareOrdinals(low, high), std::strong_ordering::less) << numbers[i];
    EXPECT_EQ(CompareOrdinals(One({}).Get(0), low), std::strong_ordering::less);
    EXPECT_EQ(CompareOrdinals(One({numbers[i], 0}).Get(0), high), std::strong_ordering::less);
    EXPECT_EQ(CompareOrdinals(low, One({numbers[i], 0}).Get(0)), std::strong_ordering::less);
  }
}

TEST(OrdinalTest, AColumnHasLongsWhileAllFit) {
  Column column;
  Numbers first(1000);
  std::iota(first.begin(), first.end(), 100'000u);
  AppendOrdinals(first, &column);
  ASSERT_EQ(column.kind(), Column::Kind::kLong);
  for (int hop = 0; hop < 2; ++hop) {
    AppendOrdinals(Numbers(1000, 20), &column);
    EXPECT_EQ(column.kind(), Column::Kind::kLong) << "hop " << hop;
  }
  Numbers wide(1000, 1);
  wide[700] = kOrdinalEnd - 1;
  AppendOrdinals(wide, &column);
  ASSERT_EQ(column.kind(), Column::Kind::kString);
  EXPECT_EQ(column.StringAt(0).size(), 8u);
  EXPECT_GT(column.StringAt(700).size(), 8u);
  for (size_t row = 0; row + 1 < 1000; ++row) {
    ASSERT_EQ(CompareOrdinals(column.Get(row), column.Get(row + 1)), std::strong_ordering::less);
  }
  // The same sequences, one by one: of either form.
  for (const size_t row : {size_t{3}, size_t{700}}) {
    const Value alone = One({first[row], 20, 20, wide[row]}).Get(0);
    EXPECT_EQ(CompareOrdinals(alone, column.Get(row)), std::strong_ordering::equal);
  }
}

// A loop's counter sorts where the loop was entered, before what its body appends.
TEST(OrdinalTest, EarlierIterationsSortFirst) {
  const auto leave = [](uint64_t source, const Numbers& path) {
    Column column = One({source});
    EnterLoops(&column);
    for (size_t i = 0; i < path.size(); ++i) {
      if (i > 0) CountLoops(&column);
      AppendOrdinal(path[i], &column);
    }
    LeaveLoops(&column);
    return column.Get(0);
  };
  const std::vector<Value> sorted = {leave(0, {0}),    leave(0, {7}),    leave(0, {0, 3}),
                                     leave(0, {7, 0}), leave(0, {7, 2}), leave(1, {0})};
  for (size_t i = 0; i + 1 < sorted.size(); ++i) {
    EXPECT_EQ(CompareOrdinals(sorted[i], sorted[i + 1]), std::strong_ordering::less) << i;
  }
  // Numbered anew in the loop: there is nothing to count.
  Column plain = One({9});
  CountLoops(&plain);
  LeaveLoops(&plain);
  EXPECT_EQ(CompareOrdinals(plain.Get(0), One({9}).Get(0)), std::strong_ordering::equal);
}

TEST(OrdinalTest, ManyIterationsAndTheLastOne) {
  Column column = One({1});
  EnterLoops(&column);
  Value before = column.Get(0);
  for (int i = 0; i < 5000; ++i) {
    CountLoops(&column);
    ASSERT_EQ(CompareOrdinals(before, column.Get(0)), std::strong_ordering::less) << i;
    before = column.Get(0);
  }
  LeaveLoops(&column);
  EXPECT_EQ(CompareOrdinals(column.Get(0), One({1, 5000}).Get(0)), std::strong_ordering::equal);
}

// Rows of batches of either kind, joined, and sent.
TEST(OrdinalTest, AMixtureIsReadRowByRow) {
  Column mixed = One({1, 2});
  mixed.AppendFrom(One({1, kOrdinalEnd - 1, kOrdinalEnd - 1}), 0);
  mixed.AppendFrom(One({2}), 0);
  ASSERT_EQ(mixed.kind(), Column::Kind::kValue);
  EXPECT_TRUE(AreOrdinals(mixed));
  std::string bytes;
  mixed.EncodeTo(&bytes);
  const StatusOr<Column> decoded = Column::Decode(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_TRUE(AreOrdinals(*decoded));
  for (size_t a = 0; a < 3; ++a) {
    for (size_t b = 0; b < 3; ++b) {
      EXPECT_EQ(CompareOrdinals(decoded->Get(a), mixed.Get(b)), a <=> b);
    }
  }
  Column out;
  for (size_t row = 0; row < 3; ++row) AppendOrdinalOf(mixed, row, row, &out);
  AppendOrdinals(Numbers{0, 1, 2}, &mixed);
  EXPECT_EQ(mixed.kind(), Column::Kind::kString);
  for (size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(CompareOrdinals(mixed.Get(row), out.Get(row)), std::strong_ordering::equal) << row;
  }
  EXPECT_EQ(CompareOrdinals(out.Get(0), One({1, 2, 0}).Get(0)), std::strong_ordering::equal);
  EXPECT_EQ(CompareOrdinals(out.Get(0), out.Get(1)), std::strong_ordering::less);
  EXPECT_EQ(CompareOrdinals(out.Get(1), out.Get(2)), std::strong_ordering::less);
}

TEST(OrdinalTest, WhateverTheBitsAreTheyAreRead) {
  Rng rng(3);
  for (int i = 0; i < 5000; ++i) {
    Column column;
    std::string bytes(rng.Uniform(20), '\0');
    for (char& byte : bytes) byte = static_cast<char>(rng.Chance(0.5) ? 0xff : rng.Next());
    column.AppendString(bytes);
    if (rng.Chance(0.5)) {
      column = Column();
      column.AppendLong(static_cast<int64_t>(rng.Next()));
    }
    ASSERT_TRUE(AreOrdinals(column));
    CountLoops(&column);
    AppendOrdinal(AnyNumber(&rng), &column);
    EnterLoops(&column);
    LeaveLoops(&column);
    LeaveLoops(&column);
    ASSERT_EQ(column.size(), 1u);
    (void)CompareOrdinals(column.Get(0), Value::Long(0));
  }
  Column none;
  none.AppendDouble(1);
  EXPECT_FALSE(AreOrdinals(none));
  none.Append(Value::Null());
  EXPECT_FALSE(AreOrdinals(none));
}

}  // namespace
}  // namespace koios::engine
