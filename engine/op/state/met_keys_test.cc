// A dedup() whose keys go to disk gives what it would give from memory.
#include "engine/op/state/met_keys.h"

#include <optional>

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

// Batches of one kind as often as of all, with keys that are absent.
std::vector<Batch> DrawnBatches(size_t count, bool several, Rng* rng) {
  std::vector<Batch> batches(count);
  for (Batch& batch : batches) {
    const uint64_t rows = 1 + rng->Uniform(300);
    const bool mixed = rng->Chance(0.5);
    const ValueKind only = DrawnKey(rng).kind();
    batch.slots.resize(2);
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

// Rows that pass, of all batches; spilled after each `every`-th call, nullopt: never.
StatusOr<std::vector<uint32_t>> Passing(const std::vector<Batch>& batches, bool several,
                                        std::optional<uint64_t> every, TestHost* host) {
  std::vector<uint32_t> passing;
  OperatorBundle dedup = *MakeDedup(DedupOf(several), 2, host);
  uint32_t first = 0;
  uint64_t calls = 0;
  for (const Batch& batch : batches) {
    std::unique_ptr<StreamCursor> cursor;
    for (bool done = false; !done;) {
      OpOutput output;
      output.cursor = std::move(cursor);
      RETURN_IF_ERROR(dedup.stream->Process(batch, &output, &done));
      cursor = std::move(output.cursor);
      for (const uint32_t row : output.origin) passing.push_back(first + row);
      if (every.has_value() && ++calls % *every == 0) RETURN_IF_ERROR(Spill(dedup.stream.get()));
    }
    first += static_cast<uint32_t>(batch.rows);
  }
  return passing;
}

TEST(MetKeysTest, FromDiskTheSameRowsPassAsFromMemory) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Rng rng(seed);
    const bool several = seed % 2 == 1;
    const std::vector<Batch> batches = DrawnBatches(80, several, &rng);
    TestHost plain, host;
    const std::vector<uint32_t> expected = *Passing(batches, several, std::nullopt, &plain);
    const uint64_t every = 1 + rng.Uniform(6);
    const auto passing = Passing(batches, several, every, &host);
    ASSERT_TRUE(passing.ok()) << MessageOf(passing.status());
    EXPECT_EQ(*passing, expected) << "seed " << seed;
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

TEST(MetKeysTest, WithoutRoomToGrowItAsksForADiskOrFails) {
  Rng rng(8);
  const std::vector<Batch> batches = DrawnBatches(80, false, &rng);
  TestHost plain, host, without;
  const std::vector<uint32_t> expected = *Passing(batches, false, std::nullopt, &plain);
  host.limit = without.limit = 400'000;
  without.spills = false;
  EXPECT_EQ(Passing(batches, false, std::nullopt, &without).status().code(),
            StatusCode::kResourceExhausted);
  OperatorBundle dedup = *MakeDedup(DedupOf(false), 2, &host);
  std::vector<uint32_t> passing;
  uint32_t first = 0;
  size_t asked = 0;
  for (const Batch& batch : batches) {
    std::unique_ptr<StreamCursor> cursor;
    for (bool done = false; !done;) {
      OpOutput output;
      output.cursor = std::move(cursor);
      const Status status = dedup.stream->Process(batch, &output, &done);
      ASSERT_TRUE(status.ok()) << MessageOf(status);
      cursor = std::move(output.cursor);
      for (const uint32_t row : output.origin) passing.push_back(first + row);
      if (!dedup.stream->must_spill()) continue;
      ++asked;
      ASSERT_TRUE(Spill(dedup.stream.get()).ok());
    }
    first += static_cast<uint32_t>(batch.rows);
  }
  EXPECT_EQ(passing, expected);
  EXPECT_GT(asked, 0u);
}

TEST(MetKeysTest, AFullDiskEndsIt) {
  size_t failed = 0;
  Rng rng(9);
  const std::vector<Batch> batches = DrawnBatches(30, false, &rng);
  for (uint64_t write = 1; write < 100; write = write * 4 / 3 + 1) {
    TestHost host;
    host.space.FailFromWrite(write);
    const auto passing = Passing(batches, false, 1, &host);
    failed += passing.ok() ? 0 : 1;
    if (!passing.ok()) {
      EXPECT_EQ(passing.status().code(), StatusCode::kResourceExhausted);
    }
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
  EXPECT_GT(failed, 3u);
}

}  // namespace
}  // namespace koios::engine
