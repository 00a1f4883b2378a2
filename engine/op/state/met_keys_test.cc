// A dedup() whose keys go to disk gives what it would give from memory.
#include "engine/op/state/met_keys.h"

#include <algorithm>
#include <optional>

#include "core/path/path.h"
#include "core/random.h"
#include "engine/op/filter_state_ops.h"
#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

Value DrawnKey(Rng* rng) {
  const auto number = static_cast<int64_t>(rng->Uniform(1500));
  switch (rng->Uniform(8)) {
    case 0:
      return Value::Int(static_cast<int32_t>(number));
    case 1:
      return Value::Long(number);
    case 2:
      return Value::Double(static_cast<double>(number) - 3);
    case 3:
      return Value::String("text " + std::to_string(number));
    case 4:
      return Value::Of(VertexRef::Make(static_cast<uint32_t>(number % 3), 5000u * (number % 100)));
    case 5:
      return Value::Of(EdgeRef{.id = static_cast<uint64_t>(number), .out = {}, .in = {}});
    case 6:
      return Value::List({Value::Long(number), Value::String("x")}).value();
    default:
      return Value::Null();
  }
}

// Batches of one kind as often as of all, with keys that are absent; slot 2 numbers all rows.
std::vector<Batch> DrawnBatches(size_t count, bool several, Rng* rng) {
  std::vector<Batch> batches(count);
  int64_t number = 0;
  for (Batch& batch : batches) {
    const uint64_t rows = 1 + rng->Uniform(300);
    const bool mixed = rng->Chance(0.5);
    const ValueKind only = DrawnKey(rng).kind();
    batch.slots.resize(3);
    for (uint64_t row = 0; row < rows; ++row) batch.slots[2].Append(Value::Long(number++));
    for (size_t slot = 0; slot < (several ? 2u : 1u); ++slot) {
      Column& column = batch.slots[slot];
      while (column.size() < rows) {
        const Value value = DrawnKey(rng);
        if (!mixed && value.kind() != only) continue;
        if (slot == 1 && rng->Chance(0.1)) {
          column.AppendAbsent();
        } else {
          column.Append(slot == 1 ? Value::Bool(rng->Chance(0.5)) : value);
        }
      }
    }
    batch.rows = rows;
    batch.runs.push_back({{}, {}, static_cast<uint32_t>(rows), 0});
  }
  return batches;
}

plan::Dedup DedupOf(bool several) {
  plan::Dedup op;
  op.add_key_slots(0);
  if (several) op.add_key_slots(1);
  return op;
}

Status Spill(StreamOperator* op) {
  while (op->SpillableBytes() > 0) RETURN_IF_ERROR(op->Spill().status());
  return OkStatus();
}

using MetNumbers = std::vector<int64_t>;

void AppendNumbers(const Batch& rows, MetNumbers* numbers) {
  for (size_t row = 0; row < rows.rows; ++row) {
    numbers->push_back(rows.slots[2].Get(row).AsInteger());
    EXPECT_EQ(rows.BulkAt(row), 1);
  }
}

// Rows that pass, of all batches; spilled after each `every`-th call, nullopt: never. *waited: how
// many came when all had come.
StatusOr<MetNumbers> PassingNumbers(const std::vector<Batch>& batches, bool several,
                                    std::optional<uint64_t> every, TestHost* host,
                                    size_t* waited = nullptr) {
  MetNumbers passing;
  OperatorBundle dedup = *MakeDedup(DedupOf(several), 3, host);
  uint64_t calls = 0;
  bool rests = false;
  for (const Batch& batch : batches) {
    std::unique_ptr<StreamCursor> cursor;
    for (bool done = false; !done;) {
      OpOutput output;
      output.cursor = std::move(cursor);
      RETURN_IF_ERROR(dedup.stream->Process(batch, &output, &done));
      cursor = std::move(output.cursor);
      EXPECT_TRUE(!rests || output.rests);
      rests = output.rests;
      for (const uint32_t row : output.origin) {
        passing.push_back(batch.slots[2].Get(row).AsInteger());
      }
      if (every.has_value() && ++calls % *every == 0) RETURN_IF_ERROR(Spill(dedup.stream.get()));
    }
  }
  const size_t early = passing.size();
  for (bool done = !rests; !done;) {
    Batch output;
    RETURN_IF_ERROR(dedup.stream->Fire({}, &output, &done));
    AppendNumbers(output, &passing);
  }
  if (waited != nullptr) *waited += passing.size() - early;
  dedup.stream->Release({});
  return passing;
}

TEST(MetKeysTest, FromDiskTheSameRowsPassAsFromMemory) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Rng rng(seed);
    const bool several = seed % 2 == 1;
    const std::vector<Batch> batches = DrawnBatches(80, several, &rng);
    TestHost plain, host;
    const MetNumbers expected = *PassingNumbers(batches, several, std::nullopt, &plain);
    const uint64_t every = 1 + rng.Uniform(6);
    const auto passing = PassingNumbers(batches, several, every, &host);
    ASSERT_TRUE(passing.ok()) << MessageOf(passing.status());
    EXPECT_EQ(*passing, expected) << "seed " << seed;
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

// In memory that has no room for filters, and where all is put on disk early: no row passes behind
// one that waits, and those that waited come in the order of arrival.
TEST(MetKeysTest, RowsThatWaitPassInTheOrderOfArrival) {
  size_t waited = 0, looked = 0;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    Rng rng(seed);
    const bool several = seed % 2 == 1;
    const bool is_small = seed % 4 == 0;
    const std::vector<Batch> batches = DrawnBatches(is_small ? 200 : 60, several, &rng);
    TestHost plain, host(is_small ? 1 << 17 : 1 << 20);
    const MetNumbers expected = *PassingNumbers(batches, several, std::nullopt, &plain);
    EXPECT_TRUE(std::is_sorted(expected.begin(), expected.end()));
    host.early = !is_small;
    for (uint64_t i = 0; i < seed; ++i) host.random().Next();
    const size_t before = waited;
    const auto passing = PassingNumbers(batches, several, 1 + rng.Uniform(30), &host, &waited);
    ASSERT_TRUE(passing.ok()) << MessageOf(passing.status());
    EXPECT_EQ(*passing, expected) << "seed " << seed;
    looked += waited == before ? 1 : 0;
    if (is_small) {
      EXPECT_GT(waited, before);
    }
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
  EXPECT_GT(waited, 100u);
  EXPECT_GT(looked, 0u) << "none looked for keys on disk";
}

TEST(MetKeysTest, WhoWaitsEndsCleanlyWhereverItIsRefused) {
  Rng rng(3);
  const std::vector<Batch> batches = DrawnBatches(40, false, &rng);
  size_t failed = 0, passed = 0, waited = 0;
  for (int64_t limit = 1000; limit < 2'000'000; limit = limit * 6 / 5) {
    TestHost host;
    host.early = true;
    host.random().Next();  // half of the operators look for keys on disk, this one does not
    host.limit = limit;
    const auto passing = PassingNumbers(batches, false, 2, &host, &waited);
    ++(WentWell(passing.status(), host) ? passed : failed);
  }
  EXPECT_GT(failed, 3u);
  EXPECT_GT(passed, 3u);
  EXPECT_GT(waited, 0u);
}

TEST(MetKeysTest, WhatIsReleasedWhileItWaitsLeavesNothing) {
  Rng rng(5);
  const std::vector<Batch> batches = DrawnBatches(40, false, &rng);
  for (int calls = 0; calls < 12; ++calls) {
    TestHost host;
    host.early = true;
    host.random().Next();
    const OperatorBundle dedup = *MakeDedup(DedupOf(false), 3, &host);
    bool rests = false;
    for (const Batch& batch : batches) {
      std::unique_ptr<StreamCursor> cursor;
      for (bool done = false; !done;) {
        OpOutput output;
        output.cursor = std::move(cursor);
        ASSERT_TRUE(dedup.stream->Process(batch, &output, &done).ok());
        cursor = std::move(output.cursor);
        rests = rests || output.rests;
        if (!rests) {
          ASSERT_TRUE(Spill(dedup.stream.get()).ok());
        }
      }
    }
    ASSERT_TRUE(rests);
    bool done = false;
    for (int call = 0; call < calls && !done; ++call) {
      Batch output;
      ASSERT_TRUE(dedup.stream->Fire({}, &output, &done).ok());
    }
    dedup.stream->Release({});
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

// Keys that are paths hold more than their place in a table, and all of it goes with them.
TEST(MetKeysTest, KeysCountWithTheirPaths) {
  constexpr int64_t kRows = 4000, kLength = 5, kBatch = 80;  // what one call takes
  const auto account = std::make_shared<MemoryAccount>("paths");
  const PathLedger::Owner ledger = PathLedger::Charging(account);
  TestHost host;
  const OperatorBundle dedup = *MakeDedup(DedupOf(false), 3, &host);
  for (int64_t begin = 0; begin < kRows; begin += kBatch) {
    ValueList rows;
    PathMaker maker(ledger.get());
    for (int64_t row = begin; row < begin + kBatch; ++row) {
      Value path;
      for (int64_t i = 0; i < kLength; ++i) {
        ASSERT_TRUE(maker.Take(sizeof(PathNode)).ok());
        path = maker.Append(path, Value::Long(row + i), nullptr).value();
      }
      rows.push_back(path);
    }
    OpOutput output;
    const Batch batch = Rows(rows);
    for (bool done = false; !done;) {
      ASSERT_TRUE(dedup.stream->Process(batch, &output, &done).ok());
    }
    ASSERT_EQ(output.origin.size(), rows.size());
  }
  const auto all = static_cast<double>(account->used() + host.charged);
  EXPECT_GT(account->used(), 4 * host.charged);
  EXPECT_NEAR(static_cast<double>(dedup.stream->SpillableBytes()), all, 0.1 * all);
  ASSERT_TRUE(Spill(dedup.stream.get()).ok());
  EXPECT_LT(account->used(), 2 * 16 * 1024);  // what the ledger has not told yet
}

// In a scope or a loop nobody asks for rows that wait.
TEST(MetKeysTest, OnlyRowsOfTheWholeQueryWait) {
  for (const bool in_loop : {false, true}) {
    Rng rng(6);
    std::vector<Batch> batches = DrawnBatches(40, false, &rng);
    for (Batch& batch : batches) {
      if (in_loop) batch.runs[0].loops.push_back(1);
      if (!in_loop) batch.runs[0].instance.serial = 3;
    }
    TestHost host(1 << 17);
    size_t waited = 0;
    ASSERT_TRUE(PassingNumbers(batches, false, 1, &host, &waited).ok());
    EXPECT_EQ(waited, 0u);
  }
}

TEST(MetKeysTest, WithoutRoomToGrowItAsksForADiskOrFails) {
  Rng rng(8);
  const std::vector<Batch> batches = DrawnBatches(80, false, &rng);
  TestHost plain, host, without;
  const MetNumbers expected = *PassingNumbers(batches, false, std::nullopt, &plain);
  host.limit = without.limit = 400'000;
  without.spills = false;
  EXPECT_EQ(PassingNumbers(batches, false, std::nullopt, &without).status().code(),
            StatusCode::kResourceExhausted);
  OperatorBundle dedup = *MakeDedup(DedupOf(false), 3, &host);
  MetNumbers passing;
  size_t asked = 0;
  for (const Batch& batch : batches) {
    std::unique_ptr<StreamCursor> cursor;
    for (bool done = false; !done;) {
      OpOutput output;
      output.cursor = std::move(cursor);
      const Status status = dedup.stream->Process(batch, &output, &done);
      ASSERT_TRUE(status.ok()) << MessageOf(status);
      cursor = std::move(output.cursor);
      for (const uint32_t row : output.origin) {
        passing.push_back(batch.slots[2].Get(row).AsInteger());
      }
      if (!dedup.stream->must_spill()) continue;
      ++asked;
      ASSERT_TRUE(Spill(dedup.stream.get()).ok());
    }
  }
  EXPECT_EQ(passing, expected);
  EXPECT_GT(asked, 0u);
}

TEST(MetKeysTest, AFullDiskEndsIt) {
  size_t failed = 0;
  Rng rng(9);
  const std::vector<Batch> batches = DrawnBatches(30, false, &rng);
  for (uint64_t write = 1; write < 100; ++write) {
    TestHost host;
    host.early = write % 2 == 0;
    host.random().Next();  // then rows wait
    host.space.FailFromWrite(write);
    const auto passing = PassingNumbers(batches, false, 1, &host);
    failed += WentWell(passing.status(), host) ? 0 : 1;
  }
  EXPECT_GT(failed, 3u);
}

}  // namespace
}  // namespace koios::engine
