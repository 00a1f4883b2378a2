#include "core/column.h"

#include <gtest/gtest.h>

#include "core/testing/make_value.h"
#include "core/testing/random_value.h"

namespace koios {
namespace {

using Kind = Column::Kind;

constexpr ValueKind kTypedKinds[] = {ValueKind::kBool,   ValueKind::kInt,    ValueKind::kLong,
                                     ValueKind::kDouble, ValueKind::kString, ValueKind::kVertex,
                                     ValueKind::kEdge};

// A value of the kind; of any kind for kNull.
Value RandomOf(ValueKind kind, testing::RandomValues* values) {
  Rng& rng = values->rng();
  switch (kind) {
    case ValueKind::kBool:
      return Value::Bool(rng.Chance(0.5));
    case ValueKind::kInt:
      return Value::Int(static_cast<int32_t>(rng.Next()));
    case ValueKind::kLong:
      return Value::Long(static_cast<int64_t>(rng.Next()));
    case ValueKind::kDouble:
      return Value::Double(rng.Double());
    case ValueKind::kString:
      return Value::String(values->Text());
    case ValueKind::kVertex:
      return Value::Of(VertexRef{rng.Next()});
    case ValueKind::kEdge:
      return Value::Of(values->Edge());
    default:
      return values->Next(1);
  }
}

void ExpectRows(const Column& column, const std::vector<Value>& expected) {
  ASSERT_EQ(column.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(Equivalent(column.Get(i), expected[i])) << "row " << i;
  }
}

TEST(ColumnTest, TheFirstAppendDecidesAndAnotherKindMixes) {
  Column column;
  EXPECT_EQ(column.kind(), Kind::kEmpty);
  column.AppendInt(1);
  column.Append(Value::Int(2));
  EXPECT_EQ(column.kind(), Kind::kInt);
  EXPECT_EQ(column.ints().size(), 2u);
  EXPECT_EQ(column.ints()[1], 2);
  column.AppendString("three");
  EXPECT_EQ(column.kind(), Kind::kValue);
  column.AppendInt(4);
  ExpectRows(column, {Value::Int(1), Value::Int(2), Value::String("three"), Value::Int(4)});
  column.Clear();
  EXPECT_EQ(column.kind(), Kind::kEmpty);
  column.AppendBool(true);
  EXPECT_EQ(column.kind(), Kind::kBool);
}

TEST(ColumnTest, KindsWithoutAnOwnVectorAreValues) {
  Column column;
  column.Append(Value::Null());
  column.Append(Value::Byte(1));
  column.AppendLong(2);
  EXPECT_EQ(column.kind(), Kind::kValue);
  ExpectRows(column, {Value::Null(), Value::Byte(1), Value::Long(2)});
  EXPECT_EQ(Column::KindFor(ValueKind::kFloat), Kind::kValue);
  EXPECT_EQ(Column::KindFor(ValueKind::kDouble), Kind::kDouble);
}

TEST(ColumnTest, StringsAreViews) {
  Column column;
  column.AppendString("");
  column.AppendString("marko");
  column.AppendString("");
  EXPECT_EQ(column.StringAt(0), "");
  EXPECT_EQ(column.StringAt(1), "marko");
  EXPECT_EQ(column.StringAt(2), "");
}

TEST(ColumnTest, EmptyColumnsOfAKindTakeAnyKind) {
  Column column(Kind::kLong);
  column.Reserve(100);
  column.AppendString("x");
  EXPECT_EQ(column.kind(), Kind::kString);
  EXPECT_EQ(column.StringAt(0), "x");
  Column typed(Kind::kString);
  typed.AppendRange(column, 0, 0);
  typed.AppendGather(column, {});
  EXPECT_EQ(typed.size(), 0u);
  Column generic(Kind::kValue);
  generic.AppendInt(1);
  EXPECT_EQ(generic.kind(), Kind::kValue);
}

TEST(ColumnTest, RandomAppendsAgreeWithAList) {
  for (uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::RandomValues values(seed);
    Rng& rng = values.rng();
    const auto pick = [&] { return rng.Chance(0.1) ? ValueKind::kNull : kTypedKinds[seed % 7]; };
    Column source;
    std::vector<Value> rows;
    const ValueKind source_kind = pick();
    for (uint64_t i = 0; i < 1 + rng.Uniform(20); ++i) {
      rows.push_back(RandomOf(source_kind, &values));
      source.Append(rows.back());
    }
    ExpectRows(source, rows);
    Column target;
    std::vector<Value> expected;
    for (int step = 0; step < 6; ++step) {
      const size_t begin = rng.Uniform(rows.size() + 1);
      const size_t count = rng.Uniform(rows.size() - begin + 1);
      std::vector<uint32_t> gather;
      switch (rng.Uniform(4)) {
        case 0:
          target.AppendRange(source, begin, count);
          expected.insert(expected.end(), rows.begin() + static_cast<long>(begin),
                          rows.begin() + static_cast<long>(begin + count));
          break;
        case 1:
          for (size_t i = 0; i < count; ++i) {
            gather.push_back(static_cast<uint32_t>(rng.Uniform(rows.size())));
            expected.push_back(rows[gather.back()]);
          }
          target.AppendGather(source, gather);
          break;
        case 2:
          target.AppendFrom(source, rows.size() - 1);
          expected.push_back(rows.back());
          break;
        default:
          expected.push_back(RandomOf(pick(), &values));
          target.Append(expected.back());
          break;
      }
    }
    ExpectRows(target, expected);
    std::string bytes;
    target.EncodeTo(&bytes);
    const auto decoded = Column::Decode(bytes);
    ASSERT_TRUE(decoded.ok());
    ASSERT_EQ(decoded->kind(), target.kind());
    ExpectRows(*decoded, expected);
  }
}

std::vector<uint32_t> RandomRows(size_t num_rows, Rng* rng) {
  std::vector<uint32_t> rows;
  for (uint64_t i = rng->Uniform(2 * num_rows + 1); num_rows > 0 && i > 0; --i) {
    rows.push_back(static_cast<uint32_t>(rng->Uniform(num_rows)));
  }
  return rows;
}

// Columns that came of one another by copies, slices and gathers, and are appended to since.
TEST(ColumnTest, WhatSharesBuffersIsAsIfItDidNot) {
  for (uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::RandomValues values(seed);
    Rng& rng = values.rng();
    const ValueKind kind = seed % 8 == 7 ? ValueKind::kNull : kTypedKinds[seed % 8];
    std::vector<Column> columns(1);
    std::vector<std::vector<Value>> expected(1);
    for (int step = 0; step < 30; ++step) {
      const size_t from = rng.Uniform(columns.size());
      const size_t rows = expected[from].size();
      const size_t begin = rng.Uniform(rows + 1);
      const size_t count = rng.Uniform(rows - begin + 1);
      const auto first = expected[from].begin() + static_cast<long>(begin);
      std::vector<Value> picked;
      switch (rng.Uniform(6)) {
        case 0:
          columns.push_back(columns[from]);
          expected.push_back(std::vector<Value>(expected[from]));
          break;
        case 1:
          columns.push_back(columns[from].Slice(begin, count));
          expected.emplace_back(first, first + static_cast<long>(count));
          break;
        case 2: {
          const std::vector<uint32_t> gather = RandomRows(rows, &rng);
          for (const uint32_t row : gather) picked.push_back(expected[from][row]);
          columns.push_back(columns[from].Gather(gather));
          expected.push_back(std::move(picked));
          break;
        }
        case 3:
          expected[from].push_back(Value::Null());
          columns[from].AppendAbsent();
          break;
        default:
          expected[from].push_back(RandomOf(rng.Chance(0.02) ? ValueKind::kNull : kind, &values));
          columns[from].Append(expected[from].back());
          break;
      }
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      ExpectRows(columns[i], expected[i]);
      std::string bytes;
      columns[i].EncodeTo(&bytes);
      const auto decoded = Column::Decode(bytes);
      ASSERT_TRUE(decoded.ok());
      ExpectRows(*decoded, expected[i]);
    }
  }
}

TEST(ColumnTest, CopiesSlicesAndGathersHoldTheSameMemory) {
  Column names;
  for (int i = 0; i < 100; ++i) names.AppendString("a name of some length " + std::to_string(i));
  const void* text = names.StringAt(10).data();
  const Column copy = names;
  EXPECT_EQ(copy.StringAt(10).data(), text);
  EXPECT_EQ(names.Slice(10, 5).StringAt(0).data(), text);
  std::vector<uint32_t> rows(50, 10);
  EXPECT_EQ(names.Gather(rows).StringAt(49).data(), text);
  EXPECT_EQ(names.Slice(5, 95).Gather(rows).StringAt(0), names.StringAt(15));
  rows.resize(5);  // few of them: the other names would be held for nothing
  EXPECT_NE(names.Gather(rows).StringAt(0).data(), text);
  EXPECT_EQ(names.Gather(rows).StringAt(0), names.StringAt(10));
  names.AppendString("one more");  // on its own from now on
  EXPECT_NE(names.StringAt(10).data(), text);
  EXPECT_EQ(copy.StringAt(10).data(), text);
  EXPECT_EQ(copy.size(), 100u);
  Column moved = std::move(names);
  EXPECT_EQ(moved.size(), 101u);
  EXPECT_EQ(names.size(), 0u);  // NOLINT(bugprone-use-after-move): it is empty
}

TEST(ColumnTest, AColumnMayBorrowMemoryThatItKeepsAlive) {
  auto memory = std::make_shared<std::vector<int64_t>>();
  for (int64_t i = 0; i < 10; ++i) memory->push_back(i * i);
  const std::weak_ptr<std::vector<int64_t>> alive = memory;
  Column squares = Column::Borrow(Kind::kLong, memory->data(), memory->size(), memory);
  const int64_t* start = memory->data();
  memory.reset();
  EXPECT_EQ(squares.longs().data(), start);
  EXPECT_EQ(squares.Slice(3, 4).longs()[0], 9);
  EXPECT_LT(squares.ByteSize(), 200u);
  squares.AppendLong(100);
  EXPECT_TRUE(alive.expired());
  EXPECT_EQ(squares.longs()[10], 100);
  EXPECT_EQ(squares.longs()[9], 81);

  const std::vector<uint32_t> offsets = {2, 5, 5, 9};
  const auto text = std::make_shared<std::string>("..onefour...");
  const Column words = Column::BorrowStrings(offsets, text->data(), text);
  ExpectRows(words, {Value::String("one"), Value::String(""), Value::String("four")});
  ExpectRows(words.Gather(std::vector<uint32_t>{2, 0, 2}),
             {Value::String("four"), Value::String("one"), Value::String("four")});
}

TEST(ColumnTest, SlicesAreChargedTheirShare) {
  Column texts;
  for (int i = 0; i < 64; ++i) texts.AppendString(std::string(1'000, 'x'));
  size_t slices = 0;
  for (size_t row = 0; row < 64; ++row) slices += texts.Slice(row, 1).ByteSize() - sizeof(Column);
  EXPECT_GE(slices, 64'000u);
  EXPECT_LE(slices, 2 * texts.ByteSize());
  // Of what is taken often there is one copy.
  const std::vector<uint32_t> rows(1'000, 7);
  EXPECT_LE(texts.Gather(rows).ByteSize(), texts.ByteSize() + 5'000);
}

Column RandomColumn(uint64_t seed) {
  testing::RandomValues values(seed);
  Column column;
  const ValueKind kind = seed % 8 == 7 ? ValueKind::kNull : kTypedKinds[seed % 8];
  for (uint64_t i = values.rng().Uniform(6); i > 0; --i) column.Append(RandomOf(kind, &values));
  return column;
}

TEST(ColumnTest, AbsentEntriesKeepTheKindAndTravel) {
  for (uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::RandomValues values(seed);
    Rng& rng = values.rng();
    const ValueKind kind = kTypedKinds[seed % 7];
    std::vector<Value> rows = {RandomOf(kind, &values)};
    std::vector<bool> absent = {false};
    Column source;
    source.Append(rows[0]);
    for (uint64_t i = rng.Uniform(8); i > 0; --i) {
      absent.push_back(rng.Chance(0.5));
      rows.push_back(absent.back() ? Value::Null() : RandomOf(kind, &values));
      absent.back() ? source.AppendAbsent() : source.Append(rows.back());
    }
    ASSERT_EQ(source.kind(), Column::KindFor(kind));
    std::vector<uint32_t> gather;
    for (int i = 0; i < 6; ++i) gather.push_back(static_cast<uint32_t>(rng.Uniform(rows.size())));
    Column target;
    target.AppendRange(source, 0, rows.size());
    target.AppendGather(source, gather);
    std::string bytes;
    target.EncodeTo(&bytes);
    const auto decoded = Column::Decode(bytes);
    ASSERT_TRUE(decoded.ok());
    for (size_t i = 0; i < target.size(); ++i) {
      const size_t from = i < rows.size() ? i : gather[i - rows.size()];
      ASSERT_EQ(decoded->IsAbsent(i), absent[from]) << "row " << i;
      ASSERT_TRUE(Equivalent(decoded->Get(i), rows[from])) << "row " << i;
    }
    for (size_t length = 0; length < bytes.size(); ++length) {
      ASSERT_FALSE(Column::Decode(std::string_view(bytes).substr(0, length)).ok());
    }
  }
}

TEST(ColumnTest, ANullIsNotAbsent) {
  Column column;
  column.Append(Value::Null());
  column.AppendAbsent();
  column.AppendInt(1);
  EXPECT_FALSE(column.IsAbsent(0));
  EXPECT_TRUE(column.IsAbsent(1));
  EXPECT_FALSE(column.IsAbsent(2));
  ExpectRows(column, {Value::Null(), Value::Null(), Value::Int(1)});
}

TEST(ColumnTest, EveryPrefixOfTheWireFormFails) {
  for (uint64_t seed = 0; seed < 800; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::string bytes;
    RandomColumn(seed).EncodeTo(&bytes);
    for (size_t length = 0; length < bytes.size(); ++length) {
      const auto cut = Column::Decode(std::string_view(bytes).substr(0, length));
      ASSERT_EQ(cut.status().code(), StatusCode::kDataLoss) << "prefix of " << length;
    }
    ASSERT_FALSE(Column::Decode(bytes + "x").ok());
  }
}

TEST(ColumnTest, RandomDamageNeverCrashes) {
  for (uint64_t seed = 0; seed < 4'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::string bytes;
    RandomColumn(seed).EncodeTo(&bytes);
    Rng rng(seed);
    bytes[rng.Uniform(bytes.size())] = static_cast<char>(rng.Next());
    const auto decoded = Column::Decode(bytes);
    if (!decoded.ok()) {
      ASSERT_EQ(decoded.status().code(), StatusCode::kDataLoss);
      continue;
    }
    for (size_t i = 0; i < decoded->size(); ++i) decoded->Get(i);
  }
}

TEST(ColumnTest, DecodeChecksOffsetsAndCounts) {
  const auto damaged = [](std::string bytes) {
    return Column::Decode(bytes).status().code() == StatusCode::kDataLoss;
  };
  EXPECT_TRUE(damaged(std::string("\x09\x00", 2)));      // no such kind
  EXPECT_TRUE(damaged(std::string("\x00\x01\x00", 3)));  // an empty column with a row
  EXPECT_TRUE(damaged(std::string("\x01\x01\x02", 3)));  // a bool of 2
  // A string of offsets 0, 2 with one byte; offsets 1, 1; offsets 0, 2, 1.
  EXPECT_TRUE(damaged(std::string("\x05\x01\0\0\0\0\2\0\0\0x", 11)));
  EXPECT_TRUE(damaged(std::string("\x05\x01\1\0\0\0\1\0\0\0x", 11)));
  EXPECT_TRUE(damaged(std::string("\x05\x02\0\0\0\0\2\0\0\0\1\0\0\0xy", 16)));
  EXPECT_TRUE(damaged("\x03\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"));  // 2^64 - 1 rows
}

TEST(ColumnTest, ByteSizeCoversThePayload) {
  Column column;
  for (int i = 0; i < 100; ++i) column.AppendString(std::string(50, 'x'));
  EXPECT_GE(column.ByteSize(), 100u * 50 + 101 * 4);
  Column values;
  values.Append(ListOf({Value::String(std::string(1000, 'x'))}));
  EXPECT_GE(values.ByteSize(), 1000u);
}

}  // namespace
}  // namespace koios
