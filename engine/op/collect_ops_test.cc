// Long keys are dear to compare: an order() takes few comparisons of them in one call.
#include "engine/op/collect_ops.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>

#include "core/random.h"
#include "core/value_compare.h"
#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

TEST(OrderTest, LongKeysAreComparedFewAtATime) {
  TestHost host;
  plan::Order order;
  StatusOr<OperatorBundle> bundle = MakeOrder(order, 2, &host);
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  constexpr int kRows = 64;
  const std::string text(1 << 20, 'x');
  ValueList rows;
  for (int i = 0; i < kRows; ++i) {
    rows.push_back(Value::String(text + std::to_string(100 + i * 7 % kRows)));
  }
  const Batch input = Rows(rows);
  ASSERT_TRUE(bundle->barrier->Absorb(input).ok());
  int calls = 0;
  std::vector<std::string> ends;
  for (bool done = false; !done; ++calls) {
    Batch output;
    ASSERT_TRUE(bundle->barrier->Fire({}, &output, &done).ok());
    for (size_t row = 0; row < output.rows; ++row) {
      ends.push_back(output.slots[0].Get(row).AsString().substr(text.size()));
    }
  }
  EXPECT_GT(calls, 150);
  ASSERT_EQ(ends.size(), static_cast<size_t>(kRows));
  for (int i = 0; i < kRows; ++i) EXPECT_EQ(ends[i], std::to_string(100 + i));
  EXPECT_EQ(host.charged, 0);
}

// What a worker waits for is one call, of all that sorting many rows takes.
TEST(OrderTest, ManyRowsAreSortedAndFreedInManyCalls) {
  constexpr int kRows = 100'000, kBatch = 1000;
  TestHost host;
  plan::Order order;
  order.add_keys();
  const OperatorBundle bundle = MakeOrder(order, 2, &host).value();
  for (int begin = 0; begin < kRows; begin += kBatch) {
    ValueList rows;
    for (int i = begin; i < begin + kBatch; ++i) {
      rows.push_back(Value::String("a row of some length " + std::to_string(i * 7919L % kRows)));
    }
    ASSERT_TRUE(bundle.barrier->Absorb(Rows(rows)).ok());
  }
  int64_t worst = 0, most = 0;
  size_t given = 0;
  std::string last;
  for (bool done = false; !done;) {
    const int64_t before = host.charged;
    Batch output;
    ASSERT_TRUE(bundle.barrier->Fire({}, &output, &done).ok());
    for (size_t row = 0; row < output.rows; ++row, ++given) {
      const std::string text = output.slots[0].Get(row).AsString();
      ASSERT_LT(last, text);
      last = text;
    }
    worst = std::max(worst, before - host.charged);
    most = std::max(most, host.charged);
  }
  EXPECT_EQ(given, static_cast<size_t>(kRows));
  // The room of a list, at most.
  EXPECT_LT(worst, most / 4);
  EXPECT_EQ(host.charged, 0);
}

// There is room for the rows and not for their order: they are sorted on disk then.
TEST(OrderTest, WhatHasNoRoomToBeSortedIsSortedOnDisk) {
  constexpr int kRows = 100'000;
  for (const bool may : {true, false}) {
    TestHost host;
    host.spills = may;
    plan::Order order;
    order.add_keys();
    StatusOr<OperatorBundle> bundle = MakeOrder(order, 2, &host);
    ASSERT_TRUE(bundle.ok()) << bundle.status();
    for (int begin = 0; begin < kRows; begin += 1000) {
      ValueList rows;
      for (int i = begin; i < begin + 1000; ++i) rows.push_back(Value::Long(i * 7919L % kRows));
      ASSERT_TRUE(bundle->barrier->Absorb(Rows(rows)).ok());
    }
    host.limit = host.charged + (int64_t{3} << 20) / 2;
    int64_t next = 0;
    Status status;
    for (bool done = false; !done && status.ok();) {
      Batch output;
      status = bundle->barrier->Fire({}, &output, &done);
      for (size_t row = 0; row < output.rows; ++row) {
        ASSERT_EQ(output.slots[0].Get(row).AsInteger(), next++);
      }
    }
    EXPECT_EQ(status.code(), may ? StatusCode::kOk : StatusCode::kResourceExhausted) << status;
    EXPECT_EQ(next, may ? kRows : 0);
    bundle->barrier->Release({});
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

// There is room for the rows and not for what puts them in order: they come from disk then.
TEST(TailTest, WhatHasNoRoomForItsOrderComesFromDisk) {
  constexpr int kRows = 100'000;
  for (const bool is_tail : {true, false}) {
    TestHost host;
    plan::Tail tail;
    tail.set_count(kRows - 7);
    const OperatorBundle bundle = is_tail ? MakeTail(tail, &host) : MakeBarrier(&host);
    for (int begin = 0; begin < kRows; begin += 1000) {
      ValueList rows;
      for (int i = begin; i < begin + 1000; ++i) rows.push_back(Value::Long(i));
      const Batch batch = Rows(rows);
      ASSERT_TRUE(bundle.barrier->Absorb(batch).ok());
      ASSERT_TRUE(bundle.barrier->Proceed(batch).ok());
    }
    // A barrier's takes 0.8 MB, a tail's 2.4 MB.
    host.limit = host.charged + (is_tail ? 1'200'000 : 600'000);
    int64_t next = is_tail ? 7 : 0;
    for (bool done = false; !done;) {
      Batch output;
      const Status status = bundle.barrier->Fire({}, &output, &done);
      ASSERT_TRUE(status.ok()) << status;
      for (size_t row = 0; row < output.rows; ++row) {
        ASSERT_EQ(output.slots[0].Get(row).AsInteger(), next++);
      }
    }
    EXPECT_EQ(next, kRows);
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

struct Sampled {
  std::vector<int64_t> numbers;  // in the order in which they come
  int64_t bulk = 0;
  int64_t most = 0;  // that was charged
};

// `batches` of 500 rows that are numbered; slot 1 has their weights where there are some.
StatusOr<Sampled> SampleOf(int64_t count, int batches, const std::vector<double>& weights,
                           int64_t bulk, TestHost* host) {
  constexpr int kRows = 500;
  plan::Sample op;
  op.set_count(count);
  if (!weights.empty()) op.set_weight_slot(1);
  const OperatorBundle sample = MakeSample(op, host);
  Sampled given;
  for (int b = 0; b < batches; ++b) {
    ValueList rows, second;
    for (int64_t i = 0; i < kRows; ++i) {
      const int64_t number = b * kRows + i;
      rows.push_back(Value::Long(number));
      if (weights.empty()) continue;
      second.push_back(Value::Double(weights[static_cast<size_t>(number) % weights.size()]));
    }
    const Batch batch = Rows(rows, second, std::vector<int64_t>(kRows, bulk));
    RETURN_IF_ERROR(sample.barrier->Absorb(batch));
    for (bool more = true; more;) {
      given.most = std::max(given.most, host->charged);
      ASSIGN_OR_RETURN(more, sample.barrier->Proceed(batch));
    }
  }
  for (bool done = false; !done;) {
    Batch output;
    RETURN_IF_ERROR(sample.barrier->Fire({}, &output, &done));
    given.most = std::max(given.most, host->charged);
    for (size_t row = 0; row < output.rows; ++row) {
      given.numbers.push_back(output.slots[0].Get(row).AsInteger());
      given.bulk += output.BulkAt(row);
    }
  }
  return given;
}

// Of 100,000 rows it keeps about as many as it gives, whatever comes.
TEST(SampleTest, WhatHasLostGoes) {
  for (const int64_t count : {0, 1, 10, 3000, 1'000'000}) {
    TestHost host;
    const StatusOr<Sampled> given = SampleOf(count, 200, {}, 1, &host);
    ASSERT_TRUE(given.ok()) << given.status();
    EXPECT_EQ(given->bulk, std::min<int64_t>(count, 100'000));
    EXPECT_EQ(given->numbers.size(), static_cast<size_t>(given->bulk));
    EXPECT_TRUE(std::is_sorted(given->numbers.begin(), given->numbers.end()));
    if (count < 100'000) {
      EXPECT_LT(given->most, 200'000 + 200 * count);
    }
    EXPECT_EQ(host.charged, 0);
  }
}

// Each row as often as the others, wherever it stands, and no traverser twice.
TEST(SampleTest, AllRowsAreDrawnAlike) {
  constexpr int kTimes = 300, kCount = 40, kBatches = 10, kParts = 10;
  TestHost host;
  std::vector<int> drawn(kParts, 0);
  for (int i = 0; i < kTimes; ++i) {
    const StatusOr<Sampled> given = SampleOf(kCount, kBatches, {}, 1, &host);
    ASSERT_TRUE(given.ok()) << given.status();
    ASSERT_EQ(given->numbers.size(), static_cast<size_t>(kCount));
    for (const int64_t number : given->numbers)
      ++drawn[static_cast<size_t>(number) * kParts / 5000];
  }
  // 1,200 each; a binomial's deviation is 33.
  for (const int times : drawn) EXPECT_NEAR(times, kTimes * kCount / kParts, 170);
}

// A row of three times the weight is drawn three times as often, one of no weight only when there
// is no other; traversers of one row are drawn as if each had a row.
TEST(SampleTest, WeightsAndBulksCount) {
  constexpr int kTimes = 300, kCount = 40;
  TestHost host;
  std::vector<int> drawn(3, 0);
  for (int i = 0; i < kTimes; ++i) {
    const StatusOr<Sampled> given = SampleOf(kCount, 10, {1.0, 0.0, 3.0}, 1 + i % 3, &host);
    ASSERT_TRUE(given.ok()) << given.status();
    ASSERT_EQ(given->bulk, kCount);
    for (const int64_t number : given->numbers) ++drawn[static_cast<size_t>(number) % 3];
  }
  EXPECT_EQ(drawn[1], 0);
  EXPECT_NEAR(static_cast<double>(drawn[2]) / drawn[0], 3.0, 0.4);
  const StatusOr<Sampled> all = SampleOf(1'000'000, 10, {1.0, 0.0, 3.0}, 7, &host);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->numbers.size(), 5000u);
  EXPECT_EQ(all->bulk, 35'000);
}

TEST(SampleTest, WhatIsTooMuchIsRefused) {
  size_t failed = 0;
  for (int64_t limit = 1000; limit < 300'000; limit = limit * 5 / 4) {
    TestHost host;
    host.limit = limit;
    const StatusOr<Sampled> given = SampleOf(1000, 20, {}, 1, &host);
    failed += given.ok() ? 0 : 1;
    if (!given.ok()) {
      EXPECT_EQ(given.status().code(), StatusCode::kResourceExhausted);
    }
  }
  EXPECT_GT(failed, 3u);
}

// A worker's share of a top-k lets all rows pass that may be among the first, in their order, and
// of many hardly any other.
TEST(OrderTest, AShareOfATopKDropsWhatIsWorse) {
  const std::vector<std::function<Value(int64_t)>> kinds = {
      [](int64_t i) { return Value::Long(i); },
      [](int64_t i) { return Value::Int(static_cast<int32_t>(i)); },
      [](int64_t i) { return i % 64 == 0 ? Value::Null() : Value::Long(i); },
      [](int64_t i) {
        return Value::Long(i % 3 == 0 ? std::numeric_limits<int64_t>::min()
                                      : std::numeric_limits<int64_t>::max());
      },
  };
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    for (const bool descending : {false, true}) {
      TestHost host;
      plan::Order op;
      op.set_stage(plan::PARTIAL);
      op.set_limit(7);
      op.add_keys()->set_slot(1);
      if (descending) op.mutable_keys(0)->set_direction(plan::SortKey::DESC);
      const StatusOr<OperatorBundle> bundle = MakeOrder(op, 2, &host);
      ASSERT_TRUE(bundle.ok()) << bundle.status();
      Rng rng(kind + 1);
      std::vector<Value> all, passed;
      for (int batch = 0; batch < 40; ++batch) {
        std::vector<Value> keys;
        for (int i = 0; i < 500; ++i) {
          keys.push_back(kinds[kind](static_cast<int64_t>(rng.Uniform(2000)) - 1000));
        }
        all.insert(all.end(), keys.begin(), keys.end());
        const Batch input = Rows(keys, keys);
        OpOutput output;
        bool done = false;
        ASSERT_TRUE(bundle->stream->Process(input, &output, &done).ok());
        ASSERT_TRUE(done);
        EXPECT_TRUE(std::is_sorted(output.origin.begin(), output.origin.end()));
        for (size_t i = 0; i < output.rows(input); ++i) {
          passed.push_back(keys[output.identity ? i : output.origin[i]]);
        }
      }
      const auto less = [descending](const Value& a, const Value& b) {
        return TotalOrder(descending ? b : a, descending ? a : b) == std::strong_ordering::less;
      };
      std::stable_sort(all.begin(), all.end(), less);
      std::stable_sort(passed.begin(), passed.end(), less);
      ASSERT_GE(passed.size(), 7u);
      for (size_t i = 0; i < 7; ++i) EXPECT_TRUE(Equivalent(passed[i], all[i])) << kind;
      if (kind < 2) {
        EXPECT_LT(passed.size(), 300u);
      }
    }
  }
}

// What looks at a bound drops what is worse than the rows that were counted, though some of those
// that it let pass never come to be counted.
TEST(OrderTest, WhatLooksDropsWhatIsWorseThanTheCounted) {
  for (const bool descending : {false, true}) {
    TestHost host;
    plan::Order counts;
    counts.set_stage(plan::PARTIAL);
    counts.set_limit(5);
    counts.set_bound(1);
    counts.add_keys()->set_slot(1);
    if (descending) counts.mutable_keys(0)->set_direction(plan::SortKey::DESC);
    plan::Order looks = counts;
    looks.set_looks(true);
    const StatusOr<OperatorBundle> first = MakeOrder(looks, 2, &host);
    const StatusOr<OperatorBundle> second = MakeOrder(counts, 2, &host);
    ASSERT_TRUE(first.ok() && second.ok());
    const auto pass = [](const OperatorBundle& bundle, const std::vector<Value>& keys) {
      const Batch input = Rows(keys, keys);
      OpOutput output;
      bool done = false;
      EXPECT_TRUE(bundle.stream->Process(input, &output, &done).ok());
      EXPECT_TRUE(done);
      if (output.identity) return keys;
      std::vector<Value> passed;
      for (const uint32_t row : output.origin) passed.push_back(keys[row]);
      return passed;
    };
    Rng rng(3);
    size_t looked_at = 0, read = 0;
    std::vector<int64_t> right, found;
    for (int batch = 0; batch < 50; ++batch) {
      std::vector<Value> keys;
      for (int i = 0; i < 100; ++i) {
        keys.push_back(Value::Long(static_cast<int64_t>(rng.Uniform(1'000'000)) - 500'000));
        if (keys.back().AsInteger() % 3 != 0) right.push_back(keys.back().AsInteger());
      }
      looked_at += keys.size();
      keys = pass(*first, keys);
      read += keys.size();
      // As many rows of the best lack the other key as have it.
      std::erase_if(keys, [](const Value& key) { return key.AsInteger() % 3 == 0; });
      if (keys.empty()) continue;
      for (const Value& key : pass(*second, keys)) found.push_back(key.AsInteger());
    }
    const auto better = [&](int64_t a, int64_t b) { return descending ? a > b : a < b; };
    std::ranges::sort(right, better);
    std::ranges::sort(found, better);
    right.resize(5);
    ASSERT_GE(found.size(), 5u);
    found.resize(5);
    EXPECT_EQ(found, right);
    EXPECT_LT(read, looked_at / 10);
  }
}

// Of other keys than those that were counted nothing is known.
TEST(OrderTest, WhatLooksLetsOtherKindsPass) {
  TestHost host;
  host.top_bounds()[1] = {Column::Kind::kLong, 0};
  plan::Order looks;
  looks.set_stage(plan::PARTIAL);
  looks.set_limit(1);
  looks.set_bound(1);
  looks.set_looks(true);
  looks.add_keys()->set_slot(1);
  const StatusOr<OperatorBundle> bundle = MakeOrder(looks, 2, &host);
  ASSERT_TRUE(bundle.ok());
  for (const auto& [key, passes] :
       {std::pair(Value::Long(1), false), std::pair(Value::Long(0), true),
        std::pair(Value::Int(1), true), std::pair(Value::String("a"), true)}) {
    OpOutput output;
    bool done = false;
    const Batch input = Rows({key}, {key});
    ASSERT_TRUE(bundle->stream->Process(input, &output, &done).ok());
    EXPECT_EQ(output.rows(input), passes ? 1u : 0u);
  }
}

// Once a top-k has its rows, one that is worse by its first key is not kept for a moment.
TEST(OrderTest, TopKKeepsNothingOfWorseRows) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::function<Value(int)>> kinds = {
      [](int i) { return Value::Long(i); },
      [](int i) { return Value::String(std::to_string(100'000 + i)); },
      [nan](int i) { return i % 100 == 50 ? Value::Double(nan) : Value::Double(i / 4.0); },
      [](int i) { return i % 2 == 0 ? Value::Int(i) : Value::Double(i); },
  };
  for (const bool descending : {false, true}) {
    for (const auto& kind : kinds) {
      TestHost host;
      plan::Order order;
      plan::SortKey* key = order.add_keys();
      if (descending) key->set_direction(plan::SortKey::DESC);
      order.set_limit(3);
      const StatusOr<OperatorBundle> bundle = MakeOrder(order, 1, &host);
      ASSERT_TRUE(bundle.ok());
      BarrierOperator& barrier = *bundle->barrier;
      ValueList all;
      Rng random(11);
      const auto absorb = [&](int from, int to) {
        ValueList rows;
        for (int i = 0; i < 1000; ++i) {
          rows.push_back(
              kind(from + static_cast<int>(random.Uniform(static_cast<uint64_t>(to - from)))));
        }
        all.insert(all.end(), rows.begin(), rows.end());
        const Batch input = Rows(rows);
        ASSERT_TRUE(barrier.Absorb(input).ok());
        for (bool more = true; more;) {
          const StatusOr<bool> proceeded = barrier.Proceed(input);
          ASSERT_TRUE(proceeded.ok());
          more = *proceeded;
        }
      };
      for (int i = 0; i < 3; ++i) absorb(4000, 5000);
      const int64_t kept = host.charged;
      for (int i = 0; i < 20 && kind(0).kind() == ValueKind::kLong; ++i) {
        absorb(descending ? 0 : 6000, descending ? 3000 : 9000);
        EXPECT_EQ(host.charged, kept);
      }
      for (int i = 0; i < 20; ++i) absorb(0, 9000);
      std::stable_sort(all.begin(), all.end(), [descending](const Value& a, const Value& b) {
        const auto compared = TotalOrder(a, b);
        return compared ==
               (descending ? std::strong_ordering::greater : std::strong_ordering::less);
      });
      Batch output;
      for (bool done = false; !done;) ASSERT_TRUE(barrier.Fire({}, &output, &done).ok());
      ASSERT_EQ(output.rows, 3u);
      for (size_t row = 0; row < 3; ++row) {
        EXPECT_EQ(TotalOrder(output.slots[0].Get(row), all[row]), std::strong_ordering::equal);
      }
    }
  }
}

}  // namespace
}  // namespace koios::engine
