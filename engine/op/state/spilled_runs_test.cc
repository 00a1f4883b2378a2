// Barriers whose rows go to disk give what they would give from memory.
#include "engine/op/state/spilled_runs.h"

#include <algorithm>
#include <functional>
#include <string>

#include "core/path/path.h"
#include "core/random.h"
#include "core/testing/make_value.h"
#include "core/value_codec.h"
#include "engine/op/collect_ops.h"
#include "engine/op/effect_ops.h"
#include "engine/op/op_test_support.h"
#include "engine/op/state/kept_rows.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

void SpillAll(BarrierOperator* op) {
  while (op->SpillableBytes() > 0) ASSERT_TRUE(op->Spill().ok());
}

GivenRows RowsFired(BarrierOperator* op) {
  GivenRows rows;
  for (bool done = false; !done;) {
    Batch out;
    const Status fired = op->Fire({}, &out, &done);
    EXPECT_TRUE(fired.ok()) << MessageOf(fired);
    if (!fired.ok()) return rows;
    AppendGiven(out, &rows);
  }
  return rows;
}

void AbsorbWhole(BarrierOperator* op, const Batch& batch) {
  ASSERT_TRUE(op->Absorb(batch).ok());
  for (bool more = true; more;) {
    const StatusOr<bool> proceeded = op->Proceed(batch);
    ASSERT_TRUE(proceeded.ok());
    more = *proceeded;
  }
}

// So many batches that runs are merged in two passes; every other one lacks the second slot.
void AbsorbAndSpill(BarrierOperator* op, bool spills, size_t batches) {
  Rng rng(5);
  int64_t number = 0;
  for (size_t b = 0; b < batches; ++b) {
    std::vector<Value> current, second;
    std::vector<int64_t> bulk;
    for (uint64_t i = 1 + rng.Uniform(6); i > 0; --i) {
      current.push_back(Value::Long(number++));
      second.push_back(rng.Uniform(3) == 0 ? Value::String("k" + std::to_string(rng.Uniform(9)))
                                           : Value::Int(static_cast<int32_t>(rng.Uniform(9))));
      bulk.push_back(static_cast<int64_t>(1 + rng.Uniform(3)));
    }
    AbsorbWhole(op, b % 7 == 3 ? Rows(current, {}, bulk) : Rows(current, second, bulk));
    if (spills && b % 5 != 4) SpillAll(op);
  }
}

TEST(SpilledRunsTest, AnOrderFromDiskIsThatFromMemory) {
  for (const int64_t limit : {0, 1, 100, 5000}) {
    TestHost plain_host, host;
    const OperatorBundle plain = *MakeOrder(OrderBySecond(limit), 2, &plain_host);
    const OperatorBundle spilled = *MakeOrder(OrderBySecond(limit), 2, &host);
    AbsorbAndSpill(plain.barrier.get(), false, 400);
    AbsorbAndSpill(spilled.barrier.get(), true, 400);
    EXPECT_GT(host.space.used(), 0u);
    const GivenRows expected = RowsFired(plain.barrier.get());
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(RowsFired(spilled.barrier.get()), expected) << "limit " << limit;
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

// A hundred runs are merged where memory has room for a few of their rows.
TEST(SpilledRunsTest, WideRowsAreMergedInTheirMemory) {
  constexpr int64_t kMemory = 4 << 20;
  constexpr size_t kWide = 128 << 10, kRows = 200;
  TestHost host(kMemory);
  host.limit = kMemory;
  const OperatorBundle order = *MakeOrder(OrderBySecond(0), 2, &host);
  for (size_t i = 0; i < kRows; ++i) {
    const std::string key = std::to_string(1000 + i * 77 % kRows) + std::string(kWide, 'x');
    AbsorbWhole(order.barrier.get(), Rows({Value::Long(0)}, {Value::String(key)}));
    if (i % 2 == 1) SpillAll(order.barrier.get());
  }
  EXPECT_GT(host.space.used(), 0u);
  size_t found = 0;
  for (bool done = false; !done;) {
    Batch out;
    ASSERT_TRUE(order.barrier->Fire({}, &out, &done).ok());
    for (size_t row = 0; row < out.rows; ++row) {
      EXPECT_EQ(out.slots[1].Get(row).AsString().substr(0, 4), std::to_string(1000 + found++));
    }
  }
  EXPECT_EQ(found, kRows);
  EXPECT_EQ(host.charged, 0);
}

// Rows that are not among the first go when they are many bytes, too.
TEST(SpilledRunsTest, ATopKKeepsFewWideRows) {
  constexpr size_t kWide = 128 << 10;
  TestHost host;
  const OperatorBundle order = *MakeOrder(OrderBySecond(3), 2, &host);
  int64_t most = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string key = std::to_string(2000 - i) + std::string(kWide, 'x');
    AbsorbWhole(order.barrier.get(), Rows({Value::Int(i)}, {Value::String(key)}));
    most = std::max(most, host.charged);
  }
  EXPECT_LT(most, 12 << 20);
  Batch out;
  for (bool done = false; !done;) ASSERT_TRUE(order.barrier->Fire({}, &out, &done).ok());
  ASSERT_EQ(out.rows, 3u);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(out.slots[0].Get(static_cast<size_t>(i)).AsInteger(), 499 - i);
  EXPECT_EQ(host.charged, 0);
}

// The first row says nothing about those behind it: what is large makes a chunk of its own.
TEST(KeptRowsTest, ChunksAreBoundedByTheirBytes) {
  KeptRows kept;
  for (int i = 0; i < 100; ++i) {
    const std::string text(i == 0 ? 1 : 100'000, 'x');
    kept.Add(Rows({Value::String(text)}), 0, 1);
  }
  const int64_t all = kept.ByteSize();
  const KeptRows oldest = kept.TakeOldest(1'000'000);
  EXPECT_GE(oldest.ByteSize(), 1'000'000);
  EXPECT_LE(oldest.ByteSize(), 2'000'000);
  EXPECT_EQ(oldest.ByteSize() + kept.ByteSize(), all);
  EXPECT_EQ(oldest.size() + kept.size(), 100u);
}

// Also of rows that are copied one by one, as a top-k does: what is taken is what was added.
TEST(KeptRowsTest, WhatIsCopiedIsMeasured) {
  KeptRows all, kept;
  for (int i = 0; i < 1000; ++i) {
    all.Add(Rows({Value::String(std::string(1100, 'x'))}, {Value::Int(i)}), 0, 1);
  }
  size_t next = 0;
  kept.AddSome(all, all.All(), &next, 1000);
  const int64_t bytes = kept.ByteSize();
  int64_t taken = 0;
  for (size_t rows = 0; kept.size() > 0;) {
    const KeptRows oldest = kept.TakeOldest(1);
    taken += oldest.ByteSize();
    rows += oldest.size();
    EXPECT_EQ(kept.ByteSize(), bytes - taken) << rows;
  }
  EXPECT_EQ(taken, bytes);
}

TEST(SpilledRunsTest, ABarrierGivesRowsInTheOrderOfArrival) {
  TestHost plain_host, host;
  const OperatorBundle plain = MakeBarrier(&plain_host), spilled = MakeBarrier(&host);
  AbsorbAndSpill(plain.barrier.get(), false, 200);
  AbsorbAndSpill(spilled.barrier.get(), true, 200);
  EXPECT_EQ(RowsFired(spilled.barrier.get()), RowsFired(plain.barrier.get()));
  EXPECT_EQ(host.charged, 0);
  EXPECT_EQ(host.space.used(), 0u);
}

OperatorBundle TailOf(int64_t count, TestHost* host) {
  plan::Tail tail;
  tail.set_count(count);
  return MakeTail(tail, host);
}

// A path is narrow in its row: what it holds goes with the row all the same, and is what counts.
TEST(SpilledRunsTest, RowsCountWithTheirPaths) {
  constexpr int64_t kRows = 4 * kBatchRows, kLength = 5;
  const auto account = std::make_shared<MemoryAccount>("paths");
  const PathLedger::Owner ledger = PathLedger::Charging(account);
  TestHost host;
  const OperatorBundle barrier = MakeBarrier(&host);
  for (int64_t row = 0; row < kRows; ++row) {
    PathMaker maker(ledger.get());
    Value path;
    for (int64_t i = 0; i < kLength; ++i) {
      ASSERT_TRUE(maker.Take(sizeof(PathNode)).ok());
      path = maker.Append(path, Value::Long(row + i), nullptr).value();
    }
    AbsorbWhole(barrier.barrier.get(), Rows({path}));
  }
  const int64_t all = account->used() + host.charged;
  EXPECT_GT(account->used(), 4 * host.charged);
  EXPECT_NEAR(static_cast<double>(barrier.barrier->SpillableBytes()), static_cast<double>(all),
              0.1 * static_cast<double>(all));
  // The first piece frees its share of the paths; all of them are gone when all has gone.
  while (!barrier.barrier->Spill().value()) {
  }
  EXPECT_LT(account->used(), static_cast<int64_t>(kRows * kLength * sizeof(PathNode)));
  EXPECT_GT(account->used(), static_cast<int64_t>(kRows * kLength * sizeof(PathNode)) / 2);
  SpillAll(barrier.barrier.get());
  EXPECT_LT(account->used(), 2 * 16 * 1024);  // what the ledger has not told yet
  EXPECT_EQ(RowsFired(barrier.barrier.get()).size(), static_cast<size_t>(kRows));
  EXPECT_EQ(host.charged, 0);
  EXPECT_EQ(host.space.used(), 0u);
}

TEST(SpilledRunsTest, ATailFromDiskIsThatFromMemory) {
  for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{5}, int64_t{100},
                              int64_t{777}, int64_t{100'000}, INT64_MAX}) {
    TestHost plain_host, host;
    const OperatorBundle plain = TailOf(count, &plain_host), spilled = TailOf(count, &host);
    AbsorbAndSpill(plain.barrier.get(), false, 300);
    AbsorbAndSpill(spilled.barrier.get(), true, 300);
    const GivenRows expected = RowsFired(plain.barrier.get());
    EXPECT_EQ(expected.empty(), count == 0);
    EXPECT_EQ(RowsFired(spilled.barrier.get()), expected) << "tail(" << count << ")";
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

// Their sum is no long.
TEST(SpilledRunsTest, ATailOfHugeBulksIsThatFromMemory) {
  for (const int64_t count : {int64_t{3}, INT64_MAX - 5, INT64_MAX - 4, INT64_MAX - 1}) {
    GivenRows expected;
    for (const bool spills : {false, true}) {
      TestHost host;
      const OperatorBundle tail = TailOf(count, &host);
      for (const std::vector<int64_t>& bulk : std::vector<std::vector<int64_t>>{
               {1, INT64_MAX}, {INT64_MAX, INT64_MAX, 7}, {INT64_MAX, 2}, {1, 1}}) {
        AbsorbWhole(tail.barrier.get(), Rows(ValueList(bulk.size(), Value::Int(1)),
                                             ValueList(bulk.size(), Value::Int(2)), bulk));
        if (spills) SpillAll(tail.barrier.get());
      }
      const GivenRows given = RowsFired(tail.barrier.get());
      if (spills) {
        EXPECT_EQ(given, expected) << "tail(" << count << ")";
      } else {
        expected = given;
      }
    }
    EXPECT_EQ(expected.size(), count == 3 ? 3u : 4u);
  }
}

// Of a tail no more is on disk than may come out.
TEST(SpilledRunsTest, ATailDropsOlderRowsFromDisk) {
  uint64_t most[2];
  for (const int64_t count : {100, 100'000}) {
    TestHost host;
    const OperatorBundle tail = TailOf(count, &host);
    uint64_t& used = most[count == 100 ? 0 : 1] = 0;
    for (int b = 0; b < 200; ++b) {
      ValueList numbers;
      for (int i = 0; i < 20; ++i) numbers.push_back(Value::Long(20 * b + i));
      AbsorbWhole(tail.barrier.get(), Rows(numbers, numbers));
      SpillAll(tail.barrier.get());
      used = std::max(used, host.space.used());
    }
    tail.barrier->Release({});
    EXPECT_EQ(host.space.used(), 0u);
  }
  EXPECT_LT(most[0], most[1] / 10);
}

StatusOr<OperatorBundle> GatherList(TestHost* host) {
  plan::Aggregate op;
  op.set_name("x");
  op.set_value_slot(1);
  return MakeAggregate(op, 2, host);
}

StatusOr<OperatorBundle> GatherGroups(TestHost* host) {
  plan::Group op;
  op.set_side_effect("x");
  op.set_key_slot(1);
  op.set_value(plan::Group::LIST);
  return MakeGroupEffect(op, 2, host);
}

// It gathers all of them before the first one comes out.
TEST(SpilledRunsTest, ASideEffectGathersFromDiskWhatItWouldFromMemory) {
  for (const auto make : {GatherList, GatherGroups}) {
    TestHost plain_host, host;
    const OperatorBundle plain = *make(&plain_host), spilled = *make(&host);
    AbsorbAndSpill(plain.barrier.get(), false, 200);
    AbsorbAndSpill(spilled.barrier.get(), true, 200);
    const GivenRows expected = RowsFired(plain.barrier.get());
    const std::string whole = EncodeValue(*plain_host.side_effects().Read("x"));
    EXPECT_GT(whole.size(), 1000u);
    GivenRows given;
    for (bool done = false; !done;) {
      Batch out;
      ASSERT_TRUE(spilled.barrier->Fire({}, &out, &done).ok());
      if (out.rows == 0) continue;
      if (given.empty()) {
        EXPECT_EQ(EncodeValue(*host.side_effects().Read("x")), whole);
      }
      AppendGiven(out, &given);
    }
    EXPECT_EQ(given, expected);
    EXPECT_EQ(EncodeValue(*host.side_effects().Read("x")), whole);
    EXPECT_EQ(host.charged, plain_host.charged);  // what was gathered stays
    EXPECT_EQ(host.space.used(), 0u);
  }
}

// What keeps rows that go to disk, and nothing else.
std::vector<std::function<OperatorBundle(TestHost*)>> Keepers() {
  return {[](TestHost* host) { return *MakeOrder(OrderBySecond(0), 2, host); },
          [](TestHost* host) { return TailOf(1'000, host); },
          [](TestHost* host) { return MakeBarrier(host); },
          [](TestHost* host) { return *GatherList(host); }};
}

// But for what a side-effect has gathered, which comes back from disk.
void ExpectNothingIsLeft(TestHost* host) {
  const bool gathers = host->side_effects().Has("x");
  host->side_effects().ChargeTo(host);
  EXPECT_TRUE(!gathers || host->side_effects().Read("x").ok());
  const int64_t gathered = gathers ? *SideEffects::ChargedFor(host->side_effects().Find("x")) : 0;
  EXPECT_EQ(host->charged, gathered);
  EXPECT_EQ(host->space.used(), 0u);
}

TEST(SpilledRunsTest, WhatIsReleasedInTheMiddleLeavesNothing) {
  for (const auto& make : Keepers()) {
    for (int calls = 0; calls < 12; ++calls) {
      TestHost host;
      const OperatorBundle bundle = make(&host);
      BarrierOperator* op = bundle.barrier.get();
      AbsorbAndSpill(op, true, 99);
      AbsorbWhole(op, Rows({Value::Int(1)}, {Value::Int(2)}));
      bool done = false;
      for (int i = 0; i < calls; ++i) {
        Batch out;
        const bool spills = calls % 2 == 0 && op->SpillableBytes() > 0;
        ASSERT_TRUE(spills ? op->Spill().ok() : op->Fire({}, &out, &done).ok());
      }
      op->Release({});
      ExpectNothingIsLeft(&host);
    }
  }
}

TEST(SpilledRunsTest, AFullDiskIsAnErrorAndLeavesNothing) {
  for (const auto& make : Keepers()) {
    for (uint64_t k = 1; k < 40; ++k) {
      TestHost host;
      host.space.FailFromWrite(k);
      const OperatorBundle bundle = make(&host);
      BarrierOperator* op = bundle.barrier.get();
      Status status;
      for (int b = 0; b < 50 && status.ok(); ++b) {
        AbsorbWhole(op, Rows({Value::Int(b)}, {Value::Int(-b)}));
        // The last ones go when it fires.
        while (status.ok() && b < 30 && op->SpillableBytes() > 0) status = op->Spill().status();
      }
      for (bool done = false; !done && status.ok();) {
        Batch out;
        status = op->Fire({}, &out, &done);
      }
      EXPECT_EQ(status.code(), k <= 31 ? StatusCode::kResourceExhausted : StatusCode::kOk);
      if (!status.ok()) {
        EXPECT_EQ(DetailOf(status)->setting, "spill-dir");
      }
      op->Release({});
      ExpectNothingIsLeft(&host);
    }
  }
}

// What is written once per block, as long paths are that begin alike, is one block; values that are
// written for each row are not, and a row that is too much by itself is refused.
TEST(SpilledRunsTest, RowsThatShareValuesGoInSmallBlocks) {
  constexpr size_t kRows = 400;
  TestHost host(64 << 20);
  const PathLedger::Owner ledger = PathLedger::Charging(host.account());
  PathMaker maker(ledger.get());
  const auto longer = [&maker](const Value& path, int64_t object) {
    EXPECT_TRUE(maker.Take(PathMaker::BytesFor(Value::Long(object))).ok());
    return *maker.Append(path, Value::Long(object), nullptr);
  };
  Value trunk;
  for (int64_t i = 0; i < 300; ++i) trunk = longer(trunk, i);
  ValueList paths;
  for (size_t i = 0; i < kRows; ++i) paths.push_back(longer(trunk, static_cast<int64_t>(i)));
  SpilledRuns alike(&kAsTheyCame, 1, &host);
  ASSERT_TRUE(alike.Append(Rows(paths)).ok());
  EXPECT_EQ(alike.num_blocks(), 1u);

  const Value list = ListOf(ValueList(3000, Value::Long(1)));
  SpilledRuns shared(&kAsTheyCame, 1, &host);
  ASSERT_TRUE(shared.Append(Rows(ValueList(kRows, list))).ok());
  EXPECT_GT(shared.num_blocks(), 10u);
  size_t found = 0;
  for (size_t block = 0; block < shared.num_blocks(); ++block) {
    int64_t charged = 0;
    const StatusOr<Batch> rows = shared.Read(block, &charged);
    ASSERT_TRUE(rows.ok()) << rows.status();
    EXPECT_LE(charged, static_cast<int64_t>(8 * kBatchBytes));
    found += rows->rows;
    EXPECT_TRUE(host.ChargeState(-charged).ok());
  }
  EXPECT_EQ(found, kRows);

  Value doubled = Value::Int(1);
  for (int i = 0; i < 40; ++i) doubled = ListOf({doubled, doubled});
  const Status refused = shared.Append(Rows({doubled}));
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(refused)->reason, "ROW_TOO_LARGE");
}

}  // namespace
}  // namespace koios::engine
