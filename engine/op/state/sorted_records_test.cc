// Records come in order, however many, and leave nothing behind.
#include "engine/op/state/sorted_records.h"

#include "core/random.h"
#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

using Records = std::vector<uint64_t>;

Records DrawnRecords(size_t count) {
  Rng rng(count);
  Records records(count);
  for (uint64_t& record : records) record = rng.Uniform(2 * count);
  return records;
}

StatusOr<Records> Sorted(const Records& records, TestHost* host) {
  SortedRecords<uint64_t> sorted(host);
  for (const uint64_t record : records) RETURN_IF_ERROR(sorted.Add(record));
  for (bool ready = false; !ready;) {
    ASSIGN_OR_RETURN(ready, sorted.Prepare());
  }
  Records given;
  uint64_t record = 0;
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, sorted.Next(&record));
    if (more) given.push_back(record);
  }
  return given;
}

// Of the host's memory a run is 2,048 records, and 8 runs are merged at once.
TEST(SortedRecordsTest, ComeInOrderAfterAnyNumberOfPasses) {
  for (const size_t count : {0, 1, 2047, 2048, 2049, 16'384, 16'385, 30'000, 200'000}) {
    TestHost host;
    Records expected = DrawnRecords(count);
    const StatusOr<Records> given = Sorted(expected, &host);
    ASSERT_TRUE(given.ok()) << MessageOf(given.status());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(*given, expected) << count;
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

TEST(SortedRecordsTest, KeepLittleInMemory) {
  TestHost host;
  host.limit = 100'000;
  EXPECT_TRUE(Sorted(DrawnRecords(200'000), &host).ok());  // 1.6 MB
}

TEST(SortedRecordsTest, AFullDiskEndsThemAtEachWrite) {
  const Records records = DrawnRecords(40'000);
  size_t passed = 0;
  for (uint64_t write = 1; passed == 0; ++write) {
    ASSERT_LT(write, 1000u);
    TestHost host;
    host.space.FailFromWrite(write);
    const StatusOr<Records> given = Sorted(records, &host);
    passed += given.ok() ? 1 : 0;
    if (!given.ok()) {
      EXPECT_EQ(given.status().code(), StatusCode::kResourceExhausted);
    }
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

TEST(SortedRecordsTest, EachChargeMayBeRefused) {
  const Records records = DrawnRecords(40'000);
  size_t failed = 0;
  for (int64_t limit = 0; limit < 100'000; limit += 2'000) {
    TestHost host;
    host.limit = limit;
    const StatusOr<Records> given = Sorted(records, &host);
    failed += WentWell(given.status(), host) ? 0 : 1;
  }
  EXPECT_GT(failed, 3u);
}

}  // namespace
}  // namespace koios::engine
