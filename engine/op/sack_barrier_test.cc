#include "engine/op/sack_barrier.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/testing/make_value.h"
#include "core/testing/rounds.h"
#include "core/value_codec.h"
#include "core/value_compare.h"
#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

struct Out {
  Value current;
  Value sack;
  int64_t bulk = 1;
};

plan::Sacks SacksFrom(const Value& initial, const std::string& name) {
  plan::Sacks op;
  op.set_slot(1);
  op.set_initial(EncodeValue(initial));
  op.set_operator_(name);
  return op;
}

// What comes of the batches of the root instance.
std::vector<Out> Through(const plan::Sacks& op, const std::vector<Batch>& batches) {
  TestHost host;
  StatusOr<OperatorBundle> bundle = MakeSackBarrier(op, 2, &host);
  EXPECT_TRUE(bundle.ok());
  for (const Batch& batch : batches) EXPECT_TRUE(AbsorbAll(bundle->barrier.get(), batch).ok());
  std::vector<Out> rows;
  for (bool done = false; !done;) {
    Batch output;
    output.slots.resize(2);
    EXPECT_TRUE(bundle->barrier->Fire({}, &output, &done).ok());
    for (size_t row = 0; row < output.rows; ++row) {
      rows.push_back({output.slots[0].Get(row), output.slots[1].Get(row), output.BulkAt(row)});
    }
  }
  EXPECT_EQ(host.charged, 0);
  return rows;
}

const Value kOne = Value::Int(1), kTwo = Value::Int(2), kSix = Value::Int(6);

TEST(SackBarrierTest, EqualRowsBecomeOneAndTheirSacksAreAdded) {
  const std::vector<Out> rows =
      Through(SacksFrom(kOne, "sum"), {Rows({kOne, kTwo, kOne}, {kTwo, kSix, kSix}, {1, 1, 3}),
                                       Rows({kOne, kTwo})});  // without sacks: the initial ones
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(Equivalent(rows[0].current, kOne));
  EXPECT_TRUE(Equivalent(rows[0].sack, Value::Int(9)));  // a row of bulk 3 adds its sack once
  EXPECT_EQ(rows[0].bulk, 5);
  EXPECT_TRUE(Equivalent(rows[1].sack, Value::Int(7)));
  EXPECT_EQ(rows[1].bulk, 2);
}

TEST(SackBarrierTest, TheOperatorsOrderIsThatOfTheRows) {
  const std::vector<Out> rows =
      Through(SacksFrom(Value(), "minus"), {Rows({kOne, kOne, kOne}, {kSix, kTwo, kOne})});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(Equivalent(rows[0].sack, Value::Int(3)));
}

TEST(SackBarrierTest, OneBulkCountsAsOne) {
  plan::Sacks op = SacksFrom(kOne, "sum");
  op.set_one_bulk(true);
  const std::vector<Out> rows = Through(op, {Rows({kOne, kOne, kTwo})});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(Equivalent(rows[0].sack, kTwo));
  EXPECT_EQ(rows[0].bulk, 1);
}

TEST(SackBarrierTest, WithoutAnOperatorOnlyThoseWithoutASackBecomeOne) {
  EXPECT_EQ(Through(SacksFrom(kOne, ""), {Rows({kOne, kOne})}).size(), 2u);
  plan::Sacks op = SacksFrom(Value(), "");
  EXPECT_EQ(Through(op, {Rows({kOne, kOne})}).size(), 2u);
  op.set_one_bulk(true);
  EXPECT_EQ(Through(op, {Rows({kOne, kOne})}).size(), 1u);
  EXPECT_EQ(Through(op, {Rows({kOne, kOne}, {kTwo, kTwo})}).size(), 2u);
}

TEST(SackBarrierTest, SharesAreWeighedByBulks) {
  plan::Sacks op = SacksFrom(kOne, "");
  op.set_normalise(true);
  const std::vector<Out> rows = Through(op, {Rows({kOne, kTwo}, {kTwo, kTwo}, {3, 1})});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(Equivalent(rows[0].sack, Value::Double(0.75)));
  EXPECT_TRUE(Equivalent(rows[1].sack, Value::Double(0.25)));
  EXPECT_EQ(rows[0].bulk, 3);
  TestHost host;
  StatusOr<OperatorBundle> bundle = MakeSackBarrier(op, 2, &host);
  ASSERT_TRUE(AbsorbAll(bundle->barrier.get(), Rows({kOne}, {Value::String("a")})).ok());
  Batch output;
  bool done = false;
  EXPECT_EQ(bundle->barrier->Fire({}, &output, &done).code(), StatusCode::kInvalidArgument);
}

TEST(SackBarrierTest, ManyRowsComeInBatches) {
  std::vector<Value> many;
  for (int32_t i = 0; i < 3000; ++i) many.push_back(Value::Int(i % 1500));
  const std::vector<Out> rows = Through(SacksFrom(kOne, "sum"), {Rows(many)});
  ASSERT_EQ(rows.size(), 1500u);
  for (const Out& row : rows) EXPECT_EQ(row.bulk, 2);
}

TEST(SackBarrierTest, ChargesWhatItKeeps) {
  TestHost host;
  StatusOr<OperatorBundle> bundle = MakeSackBarrier(SacksFrom(kOne, "sum"), 2, &host);
  ASSERT_TRUE(AbsorbAll(bundle->barrier.get(), Rows({kOne, kTwo})).ok());
  EXPECT_GT(host.charged, 0);
  bundle->barrier->Release({});
  EXPECT_EQ(host.charged, 0);
  host.limit = 10;
  EXPECT_EQ(AbsorbAll(bundle->barrier.get(), Rows({kOne})).code(), StatusCode::kResourceExhausted);
}

// A call takes a share of a batch, of freeing what finds rows, and of the total; what has been
// given is not charged any more.
TEST(SackBarrierTest, ManyRowsTakeManyCalls) {
  plan::Sacks op = SacksFrom(Value::Double(1), "sum");
  op.set_normalise(true);
  TestHost host;
  StatusOr<OperatorBundle> bundle = MakeSackBarrier(op, 2, &host);
  BarrierOperator* barrier = bundle->barrier.get();
  constexpr int kRows = 20'000;
  std::vector<Value> many;
  for (int32_t i = 0; i < kRows; ++i) many.push_back(Value::Int(i));
  const Batch rows = Rows(many);
  ASSERT_TRUE(barrier->Absorb(rows).ok());
  int calls = 0;
  for (bool more = true; more; ++calls) {
    more = *barrier->Proceed(rows);
  }
  EXPECT_GT(calls, kRows / 300);
  int empty = 0;
  size_t given = 0;
  for (bool done = false; !done;) {
    Batch output;
    const int64_t before = host.charged;
    ASSERT_TRUE(barrier->Fire({}, &output, &done).ok());
    empty += output.rows == 0 ? 1 : 0;
    given += output.rows;
    if (output.rows > 0) {
      EXPECT_LT(host.charged, before);
      EXPECT_EQ(output.slots[1].Get(0).AsDouble(), 1.0 / kRows);
    }
    EXPECT_LE(output.rows, kBatchRows);
  }
  EXPECT_GT(empty, 2 * kRows / 3000);
  EXPECT_EQ(given, static_cast<size_t>(kRows));
  EXPECT_EQ(host.charged, 0);
}

// Rows of few values with sacks of all kinds that the operator takes, or none, in two iterations.
// What can goes to disk after each so many batches; 0: never. What came out: current value, sack,
// bulk.
Status GiveDrawn(uint64_t seed, uint64_t spill_every, BarrierOperator* barrier,
                 std::vector<std::string>* given) {
  Rng rng(seed);
  const bool lists = seed % 8 == 7;
  const auto spill = [&] {
    while (spill_every > 0 && barrier->SpillableBytes() > 0) {
      RETURN_IF_ERROR(barrier->Spill().status());
    }
    return OkStatus();
  };
  for (uint64_t b = 1; b <= 40; ++b) {
    std::vector<Value> values, sacks;
    std::vector<int64_t> bulk;
    for (uint64_t i = 1 + rng.Uniform(60); i > 0; --i) {
      values.push_back(Value::Long(static_cast<int64_t>(rng.Uniform(b % 2 == 0 ? 2000 : 70))));
      sacks.push_back(lists ? ListOf({Value::Long(static_cast<int64_t>(rng.Uniform(1000)))})
                            : Value::Double(1 / (1.0 + static_cast<double>(rng.Uniform(1000)))));
      bulk.push_back(static_cast<int64_t>(1 + rng.Uniform(5)));
    }
    // Of some batches no row has a sack.
    if (!lists && rng.Uniform(4) == 0) sacks.clear();
    const uint16_t iteration = b % 3 == 0 ? 1 : 0;
    RETURN_IF_ERROR(AbsorbAll(barrier, Rows(values, sacks, bulk, {iteration})));
    if (spill_every > 0 && b % spill_every == 0) RETURN_IF_ERROR(spill());
  }
  for (const uint16_t iteration : {0, 1}) {
    for (bool done = false; !done;) {
      Batch out;
      RETURN_IF_ERROR(barrier->Fire({{}, {iteration}}, &out, &done));
      EXPECT_LE(out.slots.size(), 3u);
      for (size_t row = 0; row < out.rows; ++row) {
        given->push_back(EncodeValue(out.slots[0].Get(row)) + " " +
                         EncodeValue(out.slots[1].Get(row)) + " " +
                         std::to_string(out.BulkAt(row)));
      }
      RETURN_IF_ERROR(spill());
    }
  }
  return OkStatus();
}

bool IsOrdered(uint64_t seed) { return seed / 64 == 1; }

plan::Sacks DrawnSacks(uint64_t seed) {
  const char* const operators[] = {"sum", "minus", "div", "", "min", "assign", "", "addAll"};
  const Value initial = seed % 16 < 8 ? Value::Double(3) : Value();
  plan::Sacks op = SacksFrom(initial, operators[seed % 8]);
  op.set_one_bulk(seed / 16 % 2 == 1);
  if (IsOrdered(seed)) op.set_ordinal_slot(2);
  op.set_normalise(seed % 8 < 4 && !initial.is_null() && seed / 32 % 2 == 1);
  return op;
}

StatusOr<std::vector<std::string>> ThroughDrawn(uint64_t seed, uint64_t spill_every,
                                                TestHost* host) {
  StatusOr<OperatorBundle> bundle = MakeSackBarrier(DrawnSacks(seed), 3, host);
  RETURN_IF_ERROR(bundle.status());
  std::vector<std::string> given;
  const Status status = GiveDrawn(seed, spill_every, bundle->barrier.get(), &given);
  bundle->barrier->Release({});
  RETURN_IF_ERROR(status);
  if (!IsOrdered(seed)) std::sort(given.begin(), given.end());
  return given;
}

// To the last bit, also by operators that must not be applied out of turn.
TEST(SackBarrierTest, FromDiskComesWhatWouldFromMemory) {
  uint64_t refused = 0;
  for (uint64_t seed = 0; seed < 128; seed += TestRounds(1, 5)) {
    TestHost plain, host;
    const auto expected = ThroughDrawn(seed, 0, &plain);
    const auto given = ThroughDrawn(seed, 1 + seed % 3, &host);
    ASSERT_EQ(given.status().code(), expected.status().code()) << seed;
    if (expected.ok()) {
      EXPECT_GT(expected->size(), 500u);
      EXPECT_EQ(*given, *expected) << "seed " << seed;
    }
    refused += expected.ok() ? 0 : 1;
    EXPECT_EQ(plain.charged, 0);
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
    EXPECT_EQ(plain.space.used(), 0u);
  }
  EXPECT_LT(refused, TestRounds(32, 10));
}

TEST(SackBarrierTest, AFullDiskEndsIt) {
  size_t failed = 0;
  for (uint64_t write = 1; write < 400; write = write * 3 / 2 + 1) {
    TestHost host;
    host.space.FailFromWrite(write);
    const auto given = ThroughDrawn(97, 2, &host);
    failed += WentWell(given.status(), host) ? 0 : 1;
  }
  EXPECT_GT(failed, 5u);
}

TEST(SackBarrierTest, WhatIsReleasedOnItsWayToDiskLeavesNothing) {
  for (int calls = 0; calls <= 100; calls += 4) {
    TestHost host;
    StatusOr<OperatorBundle> bundle = MakeSackBarrier(SacksFrom(kOne, "sum"), 2, &host);
    BarrierOperator* barrier = bundle->barrier.get();
    std::vector<Value> many;
    for (int32_t i = 0; i < 5000; ++i) many.push_back(Value::Int(i));
    ASSERT_TRUE(AbsorbAll(barrier, Rows(many)).ok());
    for (int i = 0; i < calls; ++i) ASSERT_TRUE(barrier->Spill().ok());
    if (calls == 100) {
      EXPECT_GT(host.space.used(), 0u);
    }
    barrier->Release({});
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
    EXPECT_TRUE(*barrier->Spill());
  }
}

TEST(SackBarrierTest, RefusesDamagedPlans) {
  TestHost host;
  const auto code = [&host](const plan::Sacks& op) {
    return MakeSackBarrier(op, 2, &host).status().code();
  };
  plan::Sacks op = SacksFrom(kOne, "sum");
  op.set_slot(7);
  EXPECT_EQ(code(op), StatusCode::kInternal);
  EXPECT_EQ(code(SacksFrom(kOne, "noSuch")), StatusCode::kInternal);
  op = SacksFrom(kOne, "sum");
  op.set_initial("damage");
  EXPECT_NE(code(op), StatusCode::kOk);
}

}  // namespace
}  // namespace koios::engine
