#include "import/sort/external_sorter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace koios::import {
namespace {

using Records = std::vector<std::pair<std::string, std::string>>;

SortOptions OptionsOf(size_t build_bytes, size_t merge_bytes) {
  SortOptions options;
  options.temp_dir = testing::TempDir();
  options.build_bytes = build_bytes;
  options.merge_bytes = merge_bytes;
  return options;
}

// Keys with many duplicates, shared prefixes, zero bytes and lengths around the prefix's eight.
Records RandomRecords(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  Records records;
  for (size_t i = 0; i < count; ++i) {
    std::string key(random() % 12, '\0');
    for (char& c : key) c = static_cast<char>(random() % 3);
    records.emplace_back(std::move(key), std::to_string(i) + std::string(random() % 40, 'v'));
  }
  return records;
}

Records Sorted(ExternalSorter* sorter, const Records& records) {
  for (const auto& [key, value] : records) EXPECT_TRUE(sorter->Add(key, value).ok());
  EXPECT_TRUE(sorter->Finish().ok());
  Records out;
  while (true) {
    auto more = sorter->Next();
    EXPECT_TRUE(more.ok());
    if (!more.ok() || !*more) return out;
    out.emplace_back(sorter->key(), sorter->value());
  }
}

void ExpectStableSort(size_t build_bytes, size_t merge_bytes, size_t count, uint64_t min_runs) {
  Records records = RandomRecords(count * 31 + build_bytes, count);
  ExternalSorter sorter(OptionsOf(build_bytes, merge_bytes));
  Records out = Sorted(&sorter, records);
  std::stable_sort(records.begin(), records.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  EXPECT_EQ(out, records);
  EXPECT_GE(sorter.num_runs(), min_runs);
  EXPECT_EQ(sorter.num_records(), count);
}

TEST(ExternalSorterTest, InMemory) { ExpectStableSort(1 << 20, 1 << 20, 5000, 0); }

TEST(ExternalSorterTest, SpillsAndMergesOnce) { ExpectStableSort(16 << 10, 1 << 20, 5000, 10); }

// 64 KiB of merge memory are two buffers: many passes.
TEST(ExternalSorterTest, MergesInSeveralPasses) { ExpectStableSort(4 << 10, 64 << 10, 5000, 60); }

TEST(ExternalSorterTest, NothingIsSorted) {
  ExternalSorter sorter(OptionsOf(1 << 10, 1 << 10));
  EXPECT_TRUE(Sorted(&sorter, {}).empty());
}

TEST(ExternalSorterTest, ARecordBeyondTheBufferIsRefused) {
  ExternalSorter sorter(OptionsOf(1 << 10, 1 << 10));
  EXPECT_EQ(sorter.Add("k", std::string(2000, 'v')).code(), StatusCode::kResourceExhausted);
}

TEST(ExternalSorterTest, RecordsLargerThanTheReadBuffersSurvive) {
  Records records;
  for (int i = 0; i < 40; ++i) {
    records.emplace_back(std::to_string(i % 7), std::string(60'000 + static_cast<size_t>(i), 'x'));
  }
  ExternalSorter sorter(OptionsOf(100 << 10, 64 << 10));
  Records out = Sorted(&sorter, records);
  std::stable_sort(records.begin(), records.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  EXPECT_EQ(out, records);
}

TEST(ExternalSorterTest, AMissingTempDirIsAnError) {
  SortOptions options = OptionsOf(1 << 10, 1 << 10);
  options.temp_dir = "/no/such/dir";
  ExternalSorter sorter(options);
  Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) status = sorter.Add("key", std::string(100, 'v'));
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace koios::import
