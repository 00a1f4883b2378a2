// A worker's share of groups: what comes out adds up to what came in, and the weight with it.
#include "engine/op/group_op.h"

#include <algorithm>
#include <map>

#include "core/arithmetic.h"
#include "core/big_number.h"
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
      ASSERT_LT(flushes, 2) << "one batch makes room for one";
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
    if (output.rows > 0) Return(output.runs);  // as the driver, which drops others
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

// Of a table that has no room for more, rows go on as they came.
TEST(GroupPartialTest, WithoutRoomNothingIsLost) {
  for (const int64_t limit : {0, 100, 1000, 4096, 100'000, 1'000'000}) {
    TestHost host;
    host.limit = limit;
    Share share(&host);
    std::map<int64_t, int64_t> expected;
    for (int batch = 0; batch < 20; ++batch) {
      std::vector<Value> keys;
      for (int i = 0; i < 1000; ++i) {
        keys.push_back(Value::Int(i * (batch % 3 + 1)));
        ++expected[keys.back().AsInteger()];
      }
      share.Absorb(Rows(keys, keys));
      if (HasFatalFailure()) return;
      EXPECT_LE(host.charged, limit);
    }
    share.FlushAll();
    EXPECT_EQ(share.found(), expected) << limit;
  }
}

TEST(GroupPartialTest, IsOfTheRootAndNotOfLists) {
  TestHost host;
  plan::Group op = Partial();
  for (const plan::Group::Value kind : {plan::Group::LIST, plan::Group::LAST}) {
    op.set_value(kind);
    EXPECT_EQ(MakeGroup(op, 2, &host).status().code(), StatusCode::kInternal);
  }
  op.set_value(plan::Group::SUM);
  op.set_key_slot(0);
  EXPECT_EQ(MakeGroup(op, 2, &host).status().code(), StatusCode::kInternal);
  const OperatorBundle bundle = MakeGroup(Partial(), 2, &host).value();
  Batch inside = Rows({Value::Int(1)}, {Value::Int(1)});
  inside.runs.front().instance.serial = 3;
  std::vector<engine::Run> returned;
  EXPECT_EQ(bundle.partial->Absorb(inside, &returned).code(), StatusCode::kInternal);
}

// Batches that two workers put together, then home, or home alone: the map.
Value GroupsOf(plan::Group::Value kind, const std::vector<Batch>& batches, bool in_shares,
               int64_t limit) {
  TestHost host, share_host;
  share_host.limit = limit;
  plan::Group op = Partial();
  op.set_value(kind);
  const OperatorBundle shares[] = {MakeGroup(op, 3, &share_host).value(),
                                   MakeGroup(op, 3, &share_host).value()};
  op.set_stage(in_shares && (kind == plan::Group::SUM || kind == plan::Group::MEAN) ? plan::MERGED
                                                                                    : plan::FINAL);
  const OperatorBundle home = MakeGroup(op, 3, &host).value();
  const auto absorb = [&](const Batch& rows) {
    EXPECT_TRUE(AbsorbAll(home.barrier.get(), rows).ok());
  };
  const auto flush = [&](PartialOperator& share) {
    Batch output;
    std::vector<engine::Run> returned;
    EXPECT_TRUE(share.Flush({}, &output, &returned).ok());
    absorb(output);
  };
  for (size_t i = 0; i < batches.size(); ++i) {
    if (!in_shares) {
      absorb(batches[i]);
      continue;
    }
    PartialOperator& share = *shares[i % 2].partial;
    std::vector<engine::Run> returned;
    Batch batch = batches[i];
    batch.runs.front().k = 10;
    EXPECT_TRUE(share.Absorb(batch, &returned).ok());
    while (share.IsFull({})) flush(share);
  }
  for (const OperatorBundle& share : shares) {
    while (share.partial->First([](const Loops&) { return true; }) != nullptr) {
      flush(*share.partial);
    }
  }
  EXPECT_EQ(share_host.charged, 0);
  Batch output;
  for (bool done = false; !done;) EXPECT_TRUE(home.barrier->Fire({}, &output, &done).ok());
  ValueMap map = output.slots[0].Get(0).AsMap();
  std::sort(map.begin(), map.end(),
            [](const auto& a, const auto& b) { return a.first.AsInteger() < b.first.AsInteger(); });
  return Value::Map(std::move(map)).value();
}

// Numbers of most classes, nulls and what is absent, with bulks. Which decimal equal numbers become
// depends on their order, so there are no reals among those of any length.
Value SummedNumber(bool reals, Rng* rng) {
  const auto n = static_cast<int64_t>(rng->Uniform(1000));
  switch (rng->Uniform(5)) {
    case 0:
      return Value::Null();
    case 1:
      return Value::Int(static_cast<int32_t>(n));
    case 2:
      return reals ? Value::Double(static_cast<double>(n))
                   : Value::Of(BigNumber::FromInteger(static_cast<__int128>(n + 1) << 90));
    default:
      return Value::Long(n);
  }
}

// Few keys and more than fit; with room, and without.
TEST(GroupPartialTest, SharesGiveWhatHomeAloneGives) {
  for (const auto& [keys, reals, limit] :
       {std::tuple(700, true, INT64_MAX), std::tuple(30'000, false, INT64_MAX),
        std::tuple(700, false, int64_t{100'000}), std::tuple(30'000, true, int64_t{0})}) {
    Rng rng(static_cast<uint64_t>(keys));
    std::vector<Batch> batches;
    for (int batch = 0; batch < 40; ++batch) {
      std::vector<Value> values, of;
      std::vector<int64_t> bulk;
      for (int i = 0; i < 1000; ++i) {
        of.push_back(Value::Long(static_cast<int64_t>(rng.Uniform(static_cast<uint64_t>(keys)))));
        values.push_back(batch % 2 == 0 ? Value::Int(i) : SummedNumber(reals, &rng));
        if (batch % 3 == 0) bulk.push_back(1 + static_cast<int64_t>(rng.Uniform(9)));
      }
      batches.push_back(Rows(values, of, bulk));
      if (batch % 7 == 0) batches.back().slots[0] = Column();
    }
    for (const plan::Group::Value kind :
         {plan::Group::SUM, plan::Group::MEAN, plan::Group::MIN, plan::Group::MAX}) {
      EXPECT_TRUE(
          Equivalent(GroupsOf(kind, batches, true, limit), GroupsOf(kind, batches, false, limit)))
          << keys << ' ' << limit << ' ' << kind;
    }
  }
}

// A list that looks like what a share has added up is none.
TEST(GroupPartialTest, OnlyNumbersAreAddedUp) {
  NumberSum sum;
  sum.AddInt(7);
  const Value saved = sum.Save().value();
  for (const int64_t limit : {int64_t{0}, INT64_MAX}) {
    TestHost host;
    host.limit = limit;
    plan::Group op = Partial();
    op.set_value(plan::Group::SUM);
    const OperatorBundle bundle = MakeGroup(op, 2, &host).value();
    std::vector<engine::Run> returned;
    EXPECT_EQ(bundle.partial->Absorb(Rows({saved}, {Value::Int(1)}), &returned).code(),
              StatusCode::kInvalidArgument);
  }
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
  for (const Value& key : all) {
    ASSERT_TRUE(AbsorbAll(bundle.barrier.get(), Rows({key}, {key})).ok());
  }
  ASSERT_TRUE(
      AbsorbAll(bundle.barrier.get(), Rows(all, all, std::vector<int64_t>(all.size(), 2))).ok());
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
      ASSERT_TRUE(AbsorbAll(bundle.barrier.get(), Rows(keys, keys)).ok());
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
