// Streams merged in any arrival, against a stable sort of all; no row, weight or charge is lost.
#include "engine/sched/flow/sorted_streams.h"

#include <algorithm>
#include <utility>

#include "core/random.h"
#include "gtest/gtest.h"
#include "storage/memory_graph.h"

namespace koios::engine {
namespace {

constexpr uint32_t kWorkers = 5;

struct StreamRow {
  int64_t first = 0, second = 0;
  int64_t bulk = 1;
  auto operator<=>(const StreamRow&) const = default;
};

plan::Order TwoKeys(int64_t limit) {
  plan::Order order;
  order.add_keys()->set_slot(0);
  order.add_keys()->set_slot(1);
  order.mutable_keys(1)->set_direction(plan::SortKey::DESC);
  order.set_limit(limit);
  return order;
}

bool IsBefore(const StreamRow& a, const StreamRow& b) {
  return a.first != b.first ? a.first < b.first : a.second > b.second;
}

Input InputOf(const std::vector<StreamRow>& rows, size_t begin, size_t end, uint32_t k) {
  Input input;
  input.batch.slots.resize(2);
  for (size_t i = begin; i < end; ++i) {
    input.batch.slots[0].Append(Value::Long(rows[i].first));
    input.batch.slots[1].Append(Value::Long(rows[i].second));
    input.batch.bulk.push_back(rows[i].bulk);
  }
  input.batch.rows = end - begin;
  const auto count = static_cast<uint32_t>(end - begin);
  const InstanceId root{2, 0};
  if (count > 1) {
    input.batch.runs.push_back({root, {}, 1, k + 1});
    input.batch.runs.push_back({root, {}, count - 1, k + 1});
  } else {
    input.batch.runs.push_back({root, {}, count, k});
  }
  return input;
}

// A worker's rows, sorted, and how far they have been given.
struct Sender {
  std::vector<StreamRow> rows;
  size_t next = 0;
  bool told = false;
};

class SortedStreamsTest : public ::testing::Test {
 protected:
  void Make(uint64_t seed, int64_t limit) {
    rng_ = Rng(seed);
    limit_ = limit;
    senders_.assign(kWorkers, {});
    std::vector<uint32_t> workers;
    for (uint32_t worker = 0; worker < kWorkers; ++worker) {
      workers.push_back(worker);
      const size_t count = rng_.Uniform(4) == 0 ? 0 : rng_.Uniform(60);
      std::vector<StreamRow>& rows = senders_[worker].rows;
      for (size_t i = 0; i < count; ++i) {
        rows.push_back({static_cast<int64_t>(rng_.Uniform(9)),
                        static_cast<int64_t>(rng_.Uniform(9)),
                        static_cast<int64_t>(1 + rng_.Uniform(3))});
      }
      std::stable_sort(rows.begin(), rows.end(), IsBefore);
    }
    streams_ = SortedStreams(TwoKeys(limit), workers, {{2, 0}, {}, 0, 0});
  }

  // A few more rows of some worker, or the word that there are no more.
  void GiveSome() {
    const auto worker = static_cast<uint32_t>(rng_.Uniform(kWorkers));
    Sender& sender = senders_[worker];
    const size_t left = sender.rows.size() - sender.next;
    if (!sender.told && (left == 0 || rng_.Uniform(3) == 0)) {  // it may overtake rows
      ASSERT_TRUE(streams_.End(worker, sender.rows.size()));
      sender.told = true;
    }
    if (left == 0) return;
    const size_t count = 1 + rng_.Uniform(std::min<size_t>(left, 9));
    const uint32_t k = ++num_inputs_;
    given_.Add(k);
    Input input = InputOf(sender.rows, sender.next, sender.next + count, k);
    ASSERT_TRUE(streams_.Add(worker, &input));
    sender.next += count;
  }

  void MergeSome() {
    const auto charge = [this](int64_t bytes) {
      charged_ += bytes;
      return OkStatus();
    };
    auto merged = streams_.Merge(graph_, 1 + rng_.Uniform(20), charge);
    ASSERT_TRUE(merged.ok()) << merged.status();
    for (const auto& weight : merged->returned) back_.Add(weight.k, weight.count);
    uint32_t covered = 0;
    for (const auto& run : merged->batch.runs) {
      back_.Add(run.k);
      covered += run.count;
    }
    EXPECT_EQ(covered, merged->batch.rows);
    num_through_ += merged->through.size();
    const Batch& batch = merged->batch;
    for (size_t row = 0; row < batch.rows; ++row) {
      out_.push_back({batch.slots[0].Get(row).AsInteger(), batch.slots[1].Get(row).AsInteger(),
                      batch.BulkAt(row)});
    }
  }

  std::vector<StreamRow> Expected() const {
    std::vector<StreamRow> all;
    for (const Sender& sender : senders_) {
      all.insert(all.end(), sender.rows.begin(), sender.rows.end());
    }
    std::stable_sort(all.begin(), all.end(), IsBefore);
    int64_t left = limit_ > 0 ? limit_ : INT64_MAX;
    std::vector<StreamRow> first;
    for (const StreamRow& row : all) {
      if (left == 0) break;
      first.push_back(row);
      first.back().bulk = std::min(left, row.bulk);
      left -= first.back().bulk;
    }
    return first;
  }

  storage::MemoryGraph graph_;
  Rng rng_{0};
  int64_t limit_ = 0;
  std::vector<Sender> senders_;
  SortedStreams streams_;
  std::vector<StreamRow> out_;
  WeightSum given_, back_;
  int64_t charged_ = 0;
  uint32_t num_inputs_ = 0;
  size_t num_through_ = 0;
};

TEST_F(SortedStreamsTest, GiveWhatASortOfAllGives) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Make(seed, seed % 3 == 0 ? 1 + static_cast<int64_t>(seed) : 0);
    out_.clear();
    given_.Clear();
    back_.Clear();
    num_inputs_ = 0;
    num_through_ = 0;
    for (int turn = 0; !streams_.empty(); ++turn) {
      ASSERT_LT(turn, 100'000);
      GiveSome();
      if (streams_.CanMerge() && rng_.Uniform(2) == 0) MergeSome();
      if (HasFatalFailure()) return;
    }
    EXPECT_TRUE(out_ == Expected());
    EXPECT_EQ(given_.Pieces(), back_.Pieces());
    EXPECT_EQ(num_through_, num_inputs_);
    EXPECT_EQ(charged_, 0);
  }
}

TEST_F(SortedStreamsTest, WhatIsDroppedGivesItsWeightBack) {
  Make(/*seed=*/3, 0);
  for (int i = 0; i < 40; ++i) GiveSome();
  auto dropped = streams_.Drop([](int64_t) { return OkStatus(); });
  ASSERT_TRUE(dropped.ok());
  for (const auto& weight : dropped->returned) back_.Add(weight.k, weight.count);
  EXPECT_EQ(given_.Pieces(), back_.Pieces());
  EXPECT_FALSE(streams_.HasInput());
}

TEST_F(SortedStreamsTest, WhatCannotBeIsRefused) {
  const std::vector<StreamRow> rows(10);
  SortedStreams streams(TwoKeys(0), {1, 3}, {{2, 0}, {}, 0, 0});
  Input none, stranger = InputOf(rows, 0, 2, 5), foreign = InputOf(rows, 0, 2, 5);
  foreign.batch.runs[1].instance.serial = 7;
  Input fits = InputOf(rows, 0, 3, 5), more = InputOf(rows, 0, 3, 5);
  EXPECT_FALSE(streams.Add(1, &none));
  EXPECT_FALSE(streams.Add(2, &stranger));
  EXPECT_FALSE(streams.Add(1, &foreign));
  EXPECT_TRUE(streams.Add(1, &fits));
  EXPECT_FALSE(streams.End(1, 2));  // three have come
  EXPECT_TRUE(streams.End(1, 5));
  EXPECT_FALSE(streams.End(1, 5));
  EXPECT_FALSE(streams.Add(1, &more));
  EXPECT_EQ(more.batch.rows, 3u);  // left where it was
  EXPECT_FALSE(streams.End(9, 0));
  EXPECT_FALSE(streams.CanMerge());  // worker 3 has said nothing yet
}

}  // namespace
}  // namespace koios::engine
