// Paths share what they begin with, are charged once, and are read, compared and freed however long
// they are.
#include "core/path/path.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/print/value_print.h"
#include "core/testing/make_value.h"
#include "core/testing/random_value.h"
#include "core/value_codec.h"

namespace koios {
namespace {

constexpr int64_t kNode = sizeof(PathNode);

Value Grown(PathMaker* maker, const Value& path, Value object, const PathLabels* labels = nullptr) {
  CHECK(maker->Take(PathMaker::BytesFor(object)).ok());
  return Made(maker->Append(path, std::move(object), labels));
}

// 0, 1, ... behind each other.
Value Chain(PathMaker* maker, int64_t length) {
  Value path;
  for (int64_t i = 0; i < length; ++i) path = Grown(maker, path, Value::Long(i));
  return path;
}

// The same sequence in nodes of its own.
Value Apart(const Value& path) { return Made(Value::Of(Flattened(path))); }

TEST(PathTest, APathThatGoesOnSharesWhatItBeginsWith) {
  PathMaker maker(nullptr);
  const Value trunk = Chain(&maker, 3);
  const Value left = Grown(&maker, trunk, Value::String("l"), maker.Labels({"a", "b"}));
  const Value right = Grown(&maker, trunk, Value::String("r"));
  EXPECT_EQ(left.AsPath().parent(), &trunk.AsPath());
  EXPECT_EQ(right.AsPath().parent(), &trunk.AsPath());
  EXPECT_EQ(left.AsPath().length(), 4u);
  const PathObjects objects(left.AsPath());
  ASSERT_EQ(objects.size(), 4u);
  EXPECT_EQ(objects[0].AsInteger(), 0);
  EXPECT_EQ(objects[3].AsString(), "l");
  EXPECT_EQ(objects.LabelsOf(3)[1], "b");
  EXPECT_TRUE(objects.LabelsOf(2).empty());
  EXPECT_EQ(PathObjects(&left.AsPath(), trunk.AsPath().parent()).size(), 2u);
  const Value other = Made(maker.Relabel(right, maker.Labels({"c"})));
  EXPECT_EQ(other.AsPath().parent(), &trunk.AsPath());
  EXPECT_EQ(other.AsPath().labels()[0], "c");
  EXPECT_TRUE(right.AsPath().labels().empty());
}

TEST(PathTest, LabelsOutliveTheirMaker) {
  Value path;
  {
    PathMaker maker(nullptr);
    path = Grown(&maker, Value(), Value::Int(1), maker.Labels({"a label that is long enough"}));
  }
  EXPECT_EQ(path.AsPath().labels()[0], "a label that is long enough");
}

TEST(PathTest, NodesAreChargedOnceAsLongAsSomebodyHasThem) {
  const auto account = std::make_shared<MemoryAccount>("test");
  Value left, right;
  {
    const PathLedger::Owner ledger = PathLedger::Charging(account);
    PathMaker maker(ledger.get());
    const Value trunk = Chain(&maker, 1000);
    left = Grown(&maker, trunk, Value::Long(1));
    right = Grown(&maker, trunk, Value::Long(2));
    EXPECT_EQ(account->used(), 1002 * kNode);
    EXPECT_EQ(left.ByteSize(), sizeof(Value));
    EXPECT_EQ(left.FlatBytes(), sizeof(Value) + 1001 * kNode);
    // Of a list that holds paths, too.
    const Value list = ListOf({left, right});
    EXPECT_LT(list.ByteSize(), 200u);
    EXPECT_GT(list.FlatBytes(), 2000u * kNode);
  }
  EXPECT_EQ(account->used(), 1002 * kNode);
  left = Value();
  EXPECT_LE(account->used(), 1002 * kNode);  // the account hears of some at a time,
  EXPECT_GE(account->used(), 1001 * kNode);  // and never of too many
  right = Value();
  EXPECT_EQ(account->used(), 0);
  EXPECT_EQ(account->peak(), 1002 * kNode);
}

TEST(PathTest, WhatIsRefusedIsNotMade) {
  const auto account = std::make_shared<MemoryAccount>("test", 10 * kNode);
  const PathLedger::Owner ledger = PathLedger::Charging(account);
  PathMaker maker(ledger.get());
  EXPECT_EQ(maker.Take(11 * kNode).code(), StatusCode::kResourceExhausted);
  const Value path = Chain(&maker, 10);
  EXPECT_EQ(maker.Take(1).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(account->used(), 10 * kNode);
}

TEST(PathTest, WhatWasTakenAndNotNeededGoesBack) {
  const auto account = std::make_shared<MemoryAccount>("test");
  {
    const PathLedger::Owner ledger = PathLedger::Charging(account);
    PathMaker maker(ledger.get());
    ASSERT_TRUE(maker.Take(1 << 20).ok());
    EXPECT_EQ(Made(maker.Append(Value(), Value::Int(1), nullptr)).AsPath().length(), 1u);
  }
  EXPECT_EQ(account->used(), 0);
}

TEST(PathTest, NodesThatCameBeforeTheirAccountAreChargedByBind) {
  const auto account = std::make_shared<MemoryAccount>("test", 100 * kNode);
  PathLedger::Owner ledger = PathLedger::Unbound();
  Value path;
  {
    PathMaker maker(ledger.get());
    path = Chain(&maker, 100);
  }
  ASSERT_TRUE(ledger->Bind(account).ok());
  EXPECT_EQ(account->used(), 100 * kNode);
  const PathLedger::Owner second = PathLedger::Unbound();
  PathMaker maker(second.get());
  const Value more = Chain(&maker, 1);
  EXPECT_EQ(second->Bind(account).code(), StatusCode::kResourceExhausted);
  ledger.reset();
  path = Value();
  EXPECT_EQ(account->used(), 0);
}

// What nobody was charged for counts in full, and so does what goes on from there.
TEST(PathTest, AValueCountsAllOrNothingOfItsPath) {
  const auto account = std::make_shared<MemoryAccount>("test");
  const Value given = Made(Value::Of(PathData{{Value::Int(1), Value::Int(2)}, {{"a"}}}));
  EXPECT_EQ(given.ByteSize(), sizeof(Value) + 2 * kNode);
  {
    const PathLedger::Owner ledger = PathLedger::Charging(account);
    PathMaker maker(ledger.get());
    const Value longer = Grown(&maker, given, Value::Int(3), maker.Labels({"b"}));
    EXPECT_EQ(longer.ByteSize(), sizeof(Value) + 3 * kNode);
    EXPECT_EQ(longer.AsPath().labels()[0], "b");
  }
  EXPECT_EQ(account->used(), 0);
}

// Nothing recurses over a path's length.
TEST(PathTest, AMillionObjectsAreReadComparedAndFreed) {
  constexpr int64_t kLength = 1'000'000;
  const auto account = std::make_shared<MemoryAccount>("test");
  const PathLedger::Owner ledger = PathLedger::Charging(account);
  PathMaker maker(ledger.get());
  Value path = Chain(&maker, kLength);
  Value apart = Apart(path);
  EXPECT_TRUE(Equivalent(path, apart));
  EXPECT_TRUE(Equals(path, apart));
  EXPECT_EQ(EquivalenceHash(path), EquivalenceHash(apart));
  EXPECT_EQ(TotalOrder(path, apart), std::strong_ordering::equal);
  EXPECT_EQ(PathObjects(path.AsPath())[kLength - 1].AsInteger(), kLength - 1);
  const auto decoded = DecodeWholeValue(EncodeValue(path));
  ASSERT_TRUE(decoded.ok());
  EXPECT_TRUE(Equivalent(*decoded, path));
  EXPECT_GT(PrintValue(path, {}).size(), 10u);
  EXPECT_EQ(account->used(), kLength * kNode);
  apart = Value();
  path = Value();
  EXPECT_LT(account->used(), 16 * 1024);  // what is not told yet
}

// As sequences, whether they share nodes or not.
TEST(PathTest, RelationsAreThoseOfTheSequences) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::RandomValues values(seed);
    PathMaker maker(nullptr);
    const PathLabels* lists[] = {nullptr, maker.Labels({"a"}), maker.Labels({"a", "b"})};
    std::vector<Value> paths = {Value(), PathMaker::Empty()};
    for (int i = 0; i < 12; ++i) {
      const Value& from = paths[values.rng().Uniform(paths.size())];
      paths.push_back(Grown(&maker, from, values.Next(2), lists[values.rng().Uniform(3)]));
    }
    paths.erase(paths.begin());
    for (const Value& a : paths) {
      const ValueList objects = ObjectsOf(a);
      EXPECT_EQ(EquivalenceHash(a), EquivalenceHash(Apart(a)));
      for (const Value& b : paths) {
        const ValueList others = ObjectsOf(b);
        const bool same_labels = Flattened(a).labels == Flattened(b).labels;
        const Value p = ListOf(objects), q = ListOf(others);
        EXPECT_EQ(Equivalent(a, b), same_labels && Equivalent(p, q));
        EXPECT_EQ(Equivalent(a, Apart(b)), Equivalent(a, b));
        EXPECT_EQ(Equals(a, b), same_labels && Equals(p, q));
        EXPECT_EQ(TotalOrder(a, b), TotalOrder(p, q));
        EXPECT_EQ(TotalOrder(Apart(a), b), TotalOrder(p, q));
        EXPECT_EQ(Compare(a, b), Compare(p, q));
      }
    }
  }
}

TEST(PathTest, SeveralThreadsMaySharePaths) {
  const auto account = std::make_shared<MemoryAccount>("test");
  {
    const PathLedger::Owner trunks = PathLedger::Charging(account);
    PathMaker trunk_maker(trunks.get());
    const Value trunk = Chain(&trunk_maker, 100);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&account, trunk] {
        const PathLedger::Owner ledger = PathLedger::Charging(account);
        PathMaker maker(ledger.get());
        for (int i = 0; i < 2000; ++i) {
          const Value path = Grown(&maker, Grown(&maker, trunk, Value::Int(i)), Value::Int(i));
          path.AsPath().Mark(PathMark::kSimple);
          trunk.AsPath().Mark(PathMark::kChecked);
          ASSERT_EQ(PathObjects(path.AsPath()).size(), 102u);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(trunk.AsPath().Is(PathMark::kChecked));
    EXPECT_FALSE(trunk.AsPath().Is(PathMark::kSimple));
  }
  EXPECT_EQ(account->used(), 0);
}

TEST(PathTest, APathAroundPathsStaysWithinTheDepthOfValues) {
  PathMaker maker(nullptr);
  Value path = Chain(&maker, 2);
  while (path.depth() < kMaxValueDepth) path = Grown(&maker, Value(), path);
  EXPECT_EQ(maker.Append(Value(), path, nullptr).status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(Grown(&maker, path, Value::Int(1)).depth(), kMaxValueDepth);
}

// Each is twice as large as the one before when it is written in full, for one node more.
TEST(PathTest, PathsInPathsHaveABound) {
  const auto account = std::make_shared<MemoryAccount>("test");
  const PathLedger::Owner ledger = PathLedger::Charging(account);
  PathMaker maker(ledger.get());
  const auto double_until_refused = [&](const auto& next) {
    Value value = Chain(&maker, 2);
    for (int times = 0; times < 100; ++times) {
      StatusOr<Value> twice = next(value);
      if (!twice.ok()) {
        EXPECT_EQ(twice.status().code(), StatusCode::kResourceExhausted);
        EXPECT_EQ(DetailOf(twice.status())->reason, "VALUE_TOO_LARGE");
        return value.FlatBytes();
      }
      value = *std::move(twice);
    }
    return size_t{0};
  };
  const size_t path = double_until_refused([&](const Value& value) {
    EXPECT_TRUE(maker.Take(PathMaker::BytesFor(value)).ok());
    return maker.Append(value, value, nullptr);
  });
  const size_t list = double_until_refused([&](const Value& value) -> StatusOr<Value> {
    ASSIGN_OR_RETURN(Value both, Value::List({value, value}));
    EXPECT_TRUE(maker.Take(PathMaker::BytesFor(both)).ok());
    return maker.Append(Value(), std::move(both), nullptr);
  });
  // Many paths in one list are what they are.
  EXPECT_TRUE(Value::List(ValueList(2'000'000, Chain(&maker, 3))).ok());
  for (const size_t bytes : {path, list}) {
    EXPECT_GT(bytes, kMaxUnchargedBytes / 4);
    EXPECT_LE(bytes, 2 * kMaxUnchargedBytes);
  }
}

}  // namespace
}  // namespace koios
