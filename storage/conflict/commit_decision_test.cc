// Decisions without a store: only records and the window.
#include "storage/conflict/commit_decision.h"

#include <gtest/gtest.h>

#include "core/random.h"

namespace koios::storage {
namespace {

CommitRecord RecordOf(uint64_t serial, uint64_t read_version, ConflictKeys keys,
                      uint32_t attempt = 1) {
  CommitRecord record;
  record.request = {9, serial};
  record.attempt = attempt;
  record.read_version = read_version;
  record.keys = std::move(keys);
  return record;
}

TEST(CommitDecision, ARecordThatComesAgainGetsTheFirstOnesAnswer) {
  ConflictWindow window(0, 1000);
  const CommitRecord record = RecordOf(1, 0, {{17}, {}, {}});
  ASSERT_EQ(Decide(record, 0, window)->committed_as, 0u);
  window.Record(record.keys, 1, record.request, record.attempt);
  window.Record({{17}, {}, {}}, 2, {9, 2}, 1);
  // It would conflict with itself, and with the next one, if it were another one.
  EXPECT_EQ(Decide(record, 2, window)->committed_as, 1u);
  EXPECT_EQ(Decide(RecordOf(3, 0, record.keys), 2, window).status().code(), StatusCode::kAborted);
}

TEST(CommitDecision, OnlyOneAttemptIsCommitted) {
  ConflictWindow window(5, 1000);
  window.Record({{17}, {}, {}}, 6, {9, 1}, 1);
  const ConflictKeys keys{{17}, {}, {}};
  EXPECT_EQ(Decide(RecordOf(2, 5, keys, 1), 6, window).status().code(), StatusCode::kAborted);
  EXPECT_EQ(Decide(RecordOf(2, 6, keys, 2), 6, window)->committed_as, 0u);
  window.Record(keys, 7, {9, 2}, 2);
  // The refused one comes again, late.
  EXPECT_EQ(Decide(RecordOf(2, 5, keys, 1), 7, window).status().code(),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(Decide(RecordOf(2, 6, keys, 2), 7, window)->committed_as, 7u);
}

TEST(CommitDecision, WhatCannotBeRightIsRefused) {
  const ConflictWindow window(5, 1000);
  EXPECT_EQ(Decide(RecordOf(1, 6, {}), 5, window).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Decide(RecordOf(0, 5, {}), 5, window).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Decide(RecordOf(1, 4, {}), 5, window).status().code(), StatusCode::kAborted);
}

// All who have seen the same records decide alike; what was refused stays refused, and nothing is
// committed twice, whatever comes again.
TEST(CommitDecision, IsAFunctionOfWhatWasDecidedBefore) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    ConflictWindow one(0, 120), other(0, 120);
    uint64_t version = 0;
    std::vector<CommitRecord> sent;
    std::vector<uint64_t> became;  // 0: refused
    size_t again = 0;
    for (int i = 0; i < 400; ++i) {
      const bool repeats = !sent.empty() && rng.Chance(0.3);
      const size_t which =
          repeats ? sent.size() - 1 - rng.Uniform(std::min<size_t>(8, sent.size())) : sent.size();
      if (!repeats) {
        const uint64_t read = version - std::min(version, rng.Uniform(4));
        sent.push_back(RecordOf(sent.size() + 1, read,
                                {{rng.Uniform(20)}, {rng.Uniform(20)}, {rng.Uniform(20)}}));
        became.push_back(0);
      }
      const CommitRecord& record = sent[which];
      const StatusOr<Decision> a = Decide(record, version, one), b = Decide(record, version, other);
      ASSERT_EQ(a.status(), b.status());
      if (repeats) {
        ++again;
        ASSERT_EQ(a.ok() ? a->committed_as : 0, became[which]) << "seed " << seed;
        ASSERT_EQ(a.ok(), became[which] != 0) << "seed " << seed;
        continue;
      }
      if (!a.ok()) continue;
      became[which] = ++version;
      one.Record(record.keys, version, record.request, record.attempt);
      other.Record(record.keys, version, record.request, record.attempt);
    }
    EXPECT_GT(again, 50u);
    EXPECT_GT(version, 50u);
  }
}

}  // namespace
}  // namespace koios::storage
