#include "engine/op/state/spilled_keys.h"

#include <algorithm>
#include <set>

#include "core/random.h"
#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

// Numbers next to each other, far apart, and what looks like hashes.
KeyCode DrawnCode(Rng* rng) {
  switch (rng->Uniform(3)) {
    case 0:
      return CodeOfNumber(ValueKind::kLong, rng->Uniform(20'000));
    case 1:
      return CodeOfNumber(ValueKind::kVertex, rng->Next());
    default:
      return CodeOfText(std::to_string(rng->Uniform(20'000)), 9);
  }
}

Status AddRun(const std::set<KeyCode>& keys, SpilledKeys* to) {
  RETURN_IF_ERROR(to->BeginRun(keys.size(), keys.size() * 8));
  for (const KeyCode& key : keys) RETURN_IF_ERROR(to->Append(key));
  RETURN_IF_ERROR(to->EndRun());
  for (bool done = false; !done;) {
    ASSIGN_OR_RETURN(done, to->Merge());
  }
  return OkStatus();
}

void ExpectSame(const SpilledKeys& keys, const std::set<KeyCode>& expected, Rng* rng) {
  std::set<KeyCode> asked;
  while (asked.size() < 200) asked.insert(DrawnCode(rng));
  size_t i = 0;
  for (const KeyCode& key : expected) {
    if (++i % 97 == 0) asked.insert(key);
  }
  const std::vector<KeyCode> sorted(asked.begin(), asked.end());
  std::vector<bool> found;
  ASSERT_TRUE(keys.Find(sorted, &found).ok());
  for (size_t k = 0; k < sorted.size(); ++k) {
    ASSERT_EQ(found[k], expected.contains(sorted[k]));
    if (found[k]) {
      EXPECT_GT(keys.Looks(sorted[k]), 0u);
    }
  }
}

TEST(SpilledKeysTest, WhatHasComeIsThereAfterEachMerge) {
  TestHost host;
  Rng rng(3);
  {
    SpilledKeys keys(&host);
    ExpectSame(keys, {}, &rng);
    std::set<KeyCode> expected;
    for (int run = 0; run < 60; ++run) {
      std::set<KeyCode> fresh;
      for (uint64_t i = rng.Uniform(1500); i > 0; --i) fresh.insert(DrawnCode(&rng));
      ASSERT_TRUE(AddRun(fresh, &keys).ok());
      expected.insert(fresh.begin(), fresh.end());
      EXPECT_LE(keys.num_runs(), SpilledKeys::kMostRuns);
      ExpectSame(keys, expected, &rng);
    }
    EXPECT_GE(keys.num_keys(), expected.size());
    EXPECT_GT(host.charged, 0);
    EXPECT_GT(host.space.used(), 0u);
  }
  EXPECT_EQ(host.charged, 0);
  EXPECT_EQ(host.space.used(), 0u);
}

TEST(SpilledKeysTest, AFilterSavesLooksAtWhatIsNotThere) {
  TestHost host;
  SpilledKeys keys(&host);
  std::set<KeyCode> even;
  for (uint64_t i = 0; i < 20'000; ++i) even.insert(CodeOfNumber(ValueKind::kLong, 2 * i));
  ASSERT_TRUE(AddRun(even, &keys).ok());
  size_t looks = 0;
  for (uint64_t i = 0; i < 20'000; ++i) {
    looks += keys.Looks(CodeOfNumber(ValueKind::kLong, 2 * i + 1));
    EXPECT_EQ(keys.Looks(CodeOfNumber(ValueKind::kLong, 2 * i)), 1u);
  }
  EXPECT_LT(looks, 1000u);
}

TEST(SpilledKeysTest, AFailingDiskIsAnErrorAtEachWrite) {
  size_t failed = 0;
  for (uint64_t write = 1; write < 200; write = write * 5 / 4 + 1) {
    TestHost host;
    host.space.FailFromWrite(write);
    Rng rng(4);
    {
      SpilledKeys keys(&host);
      Status status;
      for (int run = 0; run < 20 && status.ok(); ++run) {
        std::set<KeyCode> fresh;
        while (fresh.size() < 1000) fresh.insert(DrawnCode(&rng));
        status = AddRun(fresh, &keys);
      }
      failed += status.ok() ? 0 : 1;
      if (!status.ok()) {
        EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
      }
    }
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
  EXPECT_GT(failed, 5u);
}

}  // namespace
}  // namespace koios::engine
