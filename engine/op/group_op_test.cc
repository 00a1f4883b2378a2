// A worker's share of groups: what comes out adds up to what came in, and the weight with it.
#include "engine/op/group_op.h"

#include <map>

#include "core/random.h"
#include "engine/op/op_test_support.h"
#include "engine/scope/weight.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

plan::Group Partial() {
  plan::Group op;
  op.set_key_slot(1);
  op.set_value(plan::Group::COUNT);
  op.set_stage(plan::PARTIAL);
  return op;
}

class Share {
 public:
  explicit Share(TestHost* host)
      : host_(host), bundle_(MakeGroup(Partial(), 2, host).value()), op_(*bundle_.partial) {}

  // As the driver does; batches of the root instance, of weight 2^-10 each.
  void Absorb(Batch batch) {
    batch.runs.front().k = 10;
    sent_.Add(10);
    std::vector<engine::Run> returned;
    const Status status = op_.Absorb(batch, &returned);
    ASSERT_TRUE(status.ok()) << status;
    Return(returned);
    for (int flushes = 0; op_.IsFull({}); ++flushes) {
      ASSERT_EQ(flushes, 0) << "one batch makes room for one";
      Flush();
    }
  }
  void Flush() {
    Batch output;
    std::vector<engine::Run> returned;
    ASSERT_TRUE(op_.Flush({}, &output, &returned).ok());
    Return(returned);
    ASSERT_LE(output.rows, kBatchRows);
    ++batches_;
    for (size_t row = 0; row < output.rows; ++row) {
      if (!output.slots[1].IsAbsent(row)) {
        found_[output.slots[1].Get(row).AsInteger()] += output.BulkAt(row);
      }
    }
    Return(output.runs);
  }
  void FlushAll() {
    while (op_.First([](const Loops&) { return true; }) != nullptr) Flush();
    EXPECT_EQ(host_->charged, 0);
    EXPECT_EQ(sent_.Pieces(), returned_.Pieces());
  }
  const std::map<int64_t, int64_t>& found() const { return found_; }
  size_t batches() const { return batches_; }

 private:
  void Return(const std::vector<engine::Run>& runs) {
    for (const engine::Run& run : runs) returned_.Add(run.k);
  }

  TestHost* const host_;
  const OperatorBundle bundle_;
  PartialOperator& op_;
  WeightSum sent_, returned_;
  std::map<int64_t, int64_t> found_;
  size_t batches_ = 0;
};

// Few keys, more than fit, and hardly any that comes twice.
TEST(GroupPartialTest, GivesWhatCame) {
  for (const uint64_t keys : {1, 700, 30'000, 100'000'000}) {
    TestHost host;
    Share share(&host);
    Rng rng(keys);
    std::map<int64_t, int64_t> expected;
    for (int batch = 0; batch < 60; ++batch) {
      std::vector<Value> current(1000), second;
      std::vector<int64_t> bulk;
      for (int i = 0; i < 1000; ++i) {
        const auto key = static_cast<int64_t>(rng.Uniform(keys));
        second.push_back(batch % 5 == 0 ? Value::Int(static_cast<int32_t>(key)) : Value::Long(key));
        if (batch % 3 == 0) bulk.push_back(1 + static_cast<int64_t>(rng.Uniform(9)));
        expected[key] += batch % 3 == 0 ? bulk.back() : 1;
      }
      share.Absorb(Rows(current, second, bulk));
      if (HasFatalFailure()) return;
    }
    const size_t early = share.batches();
    EXPECT_EQ(early > 0, keys > 700);
    share.FlushAll();
    EXPECT_EQ(share.found(), expected);
    if (keys == 700) {
      EXPECT_EQ(share.batches(), 2u);  // an int and a long are two keys
    }
  }
}

TEST(GroupPartialTest, RowsWithoutKeysGiveTheirWeightBack) {
  TestHost host;
  Share share(&host);
  share.Absorb(Rows({Value::Long(1), Value::Long(2)}));
  share.FlushAll();
  EXPECT_EQ(share.batches(), 0u);
}

TEST(GroupPartialTest, WhatIsKeptIsCharged) {
  TestHost host;
  host.limit = 1000;
  const OperatorBundle bundle = MakeGroup(Partial(), 2, &host).value();
  std::vector<Value> keys;
  for (int i = 0; i < 1000; ++i) keys.push_back(Value::Int(i));
  std::vector<engine::Run> returned;
  EXPECT_EQ(bundle.partial->Absorb(Rows(keys, keys), &returned).code(),
            StatusCode::kResourceExhausted);
}

TEST(GroupPartialTest, IsOfCountsAndOfTheRootOnly) {
  TestHost host;
  plan::Group op = Partial();
  op.set_value(plan::Group::LIST);
  EXPECT_EQ(MakeGroup(op, 2, &host).status().code(), StatusCode::kInternal);
  const OperatorBundle bundle = MakeGroup(Partial(), 2, &host).value();
  Batch inside = Rows({Value::Int(1)}, {Value::Int(1)});
  inside.runs.front().instance.serial = 3;
  std::vector<engine::Run> returned;
  EXPECT_EQ(bundle.partial->Absorb(inside, &returned).code(), StatusCode::kInternal);
}

// A key is what it is: an int, a long, a double and a string of the same text are four.
TEST(GroupTest, KeysOfDifferentKindsAreDifferent) {
  TestHost host;
  plan::Group op = Partial();
  op.set_stage(plan::FINAL);
  const OperatorBundle bundle = MakeGroup(op, 2, &host).value();
  const std::vector<Value> all = {Value::Int(1),      Value::Long(1), Value::Double(1),
                                  Value::String("1"), Value::Null(),  Value::Double(0.0 / 0.0),
                                  Value::Bool(true)};
  for (const Value& key : all) ASSERT_TRUE(bundle.barrier->Absorb(Rows({key}, {key})).ok());
  ASSERT_TRUE(bundle.barrier->Absorb(Rows(all, all, std::vector<int64_t>(all.size(), 2))).ok());
  Batch output;
  bool done = false;
  ASSERT_TRUE(bundle.barrier->Fire({}, &output, &done).ok());
  const Value map = output.slots[0].Get(0);
  ASSERT_EQ(map.AsMap().size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(Equivalent(map.AsMap()[i].first, all[i]));
    EXPECT_TRUE(Equivalent(map.AsMap()[i].second, Value::Long(3)));
  }
  EXPECT_EQ(host.charged, 0);
}

// What a worker waits for is one call: groups are given, and what they were kept in is freed, a
// little in each.
TEST(GroupTest, ManyGroupsAreFreedInManyCalls) {
  constexpr int kGroups = 60'000, kBatch = 1000;
  for (const bool rows : {true, false}) {
    TestHost host;
    plan::Group op = Partial();
    op.set_stage(plan::FINAL);
    op.set_rows(rows);
    const OperatorBundle bundle = MakeGroup(op, 2, &host).value();
    for (int begin = 0; begin < kGroups; begin += kBatch) {
      ValueList keys;
      for (int i = begin; i < begin + kBatch; ++i) {
        keys.push_back(*Value::List({Value::String("a key of some length " + std::to_string(i))}));
      }
      ASSERT_TRUE(bundle.barrier->Absorb(Rows(keys, keys)).ok());
    }
    const int64_t kept = host.charged;
    EXPECT_GT(kept, 8 << 20);
    int64_t worst = 0;
    int calls = 0;
    size_t given = 0;
    for (bool done = false; !done; ++calls) {
      const int64_t before = host.charged;
      Batch output;
      ASSERT_TRUE(bundle.barrier->Fire({}, &output, &done).ok());
      if (output.rows > 0) given += rows ? output.rows : output.slots[0].Get(0).AsMap().size();
      // Whoever takes a map is charged for it.
      if (rows || !done) worst = std::max(worst, before - host.charged);
    }
    EXPECT_EQ(given, static_cast<size_t>(kGroups));
    EXPECT_GT(calls, 100) << rows;
    EXPECT_LT(worst, kept / 16) << rows;
    EXPECT_EQ(host.charged, 0);
  }
}

}  // namespace
}  // namespace koios::engine
