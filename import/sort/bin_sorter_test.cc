// Compared with std::stable_sort, in memory, spilled, and merged because a bin is too large.
#include "import/sort/bin_sorter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "import/sort/bin_writer.h"
#include "storage/temp_folder.h"

namespace koios::import {
namespace {

using Records = std::vector<std::pair<std::string, std::string>>;

struct Rooms {
  const char* name;
  size_t record_bytes, all_bytes, merge_bytes;
};
constexpr size_t kMebibyte = size_t{1} << 20;
constexpr Rooms kRooms[] = {
    {"all in memory", 64 * kMebibyte, 64 * kMebibyte, kMebibyte},
    {"spilled, loaded", 32 << 10, 64 * kMebibyte, kMebibyte},
    {"spilled, merged", 32 << 10, 0, 64 << 10},
    {"in memory, merged", 64 * kMebibyte, 0, 64 << 10},
};

Records ReadBin(SortedBin* bin) {
  Records out;
  while (true) {
    auto more = bin->Next();
    EXPECT_TRUE(more.ok()) << more.status();
    if (!more.ok() || !*more) return out;
    out.emplace_back(bin->key(), bin->value());
  }
}

// Adds the records to bin 1 of 3, reads them back twice, by the keys that `swap` makes.
void CheckSorts(const Records& records, KeySwap swap, const Rooms& rooms) {
  storage::TempFolder temp;
  SortRoom room(temp.path(), rooms.record_bytes, rooms.all_bytes, rooms.merge_bytes);
  {
    BinSorter sorter(&room, 3, rooms.record_bytes);
    BinWriter writer(&sorter, 1000);
    for (const auto& [key, value] : records) ASSERT_TRUE(writer.Add(1, key, value).ok());
    ASSERT_TRUE(writer.Add(2, "other", "bin").ok());
    ASSERT_TRUE(writer.Finish().ok());
    EXPECT_EQ(sorter.num_records(), records.size() + 1);
    Records expected;
    std::string buffer;
    for (const auto& [key, value] : records)
      expected.emplace_back(SwapKey(swap, key, &buffer), value);
    std::stable_sort(expected.begin(), expected.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    {
      auto bin = sorter.Open(1, swap);
      ASSERT_TRUE(bin.ok()) << bin.status();
      EXPECT_EQ(ReadBin(bin->get()), expected) << rooms.name;
      ASSERT_TRUE((*bin)->Rewind().ok());
      EXPECT_EQ(ReadBin(bin->get()), expected) << rooms.name << ", again";
    }
    auto empty = sorter.Open(0);
    ASSERT_TRUE(empty.ok());
    EXPECT_TRUE(ReadBin(empty->get()).empty());
    sorter.Drop(1);
  }
  EXPECT_EQ(room.used(), 0u) << rooms.name;
}

// `size`: of keys, or of the longest when they differ.
Records Draw(Rng* rng, size_t count, size_t size, bool differ, int alphabet) {
  Records records;
  for (size_t i = 0; i < count; ++i) {
    std::string key(differ ? rng->Uniform(size + 1) : size, '\0');
    // The first bytes are few, so that prefixes are shared.
    for (char& c : key) c = static_cast<char>(rng->Uniform(static_cast<uint64_t>(alphabet)));
    records.emplace_back(key, std::to_string(i) + std::string(rng->Uniform(200), 'v'));
  }
  return records;
}

TEST(BinSorterTest, SortsAsStableSortDoes) {
  Rng rng(7);
  for (const Rooms& rooms : kRooms) {
    for (const size_t count : {0, 1, 2, 100, 255, 256, 257, 3000}) {
      CheckSorts(Draw(&rng, count, 4, false, 256), {}, rooms);
      CheckSorts(Draw(&rng, count, 20, false, 3), {}, rooms);
      CheckSorts(Draw(&rng, count, 30, true, 2), {}, rooms);
      CheckSorts(Draw(&rng, count, 1, true, 2), {}, rooms);
      CheckSorts(Draw(&rng, count, 20, false, 2), {2, 6, 12}, rooms);
      Records small = Draw(&rng, count, 12, false, 3);
      for (const size_t value_bytes : {8, 7, 0}) {
        for (auto& [key, value] : small) value.resize(value_bytes, 'v');
        CheckSorts(small, {}, rooms);
        CheckSorts(small, {1, 4, 9}, rooms);
      }
    }
  }
}

TEST(BinSorterTest, KeysThatDifferBehindALongCommonBeginning) {
  Rng rng(8);
  for (const Rooms& rooms : kRooms) {
    Records records = Draw(&rng, 1000, 40, true, 2);
    for (auto& [key, value] : records) key.insert(0, std::string(100, 'p'));
    CheckSorts(records, {}, rooms);
  }
}

// Values that are kept with the numbers stand beside values that are not.
TEST(BinSorterTest, ValuesOfSizesAroundThoseOfAnEntry) {
  Rng rng(9);
  for (const Rooms& rooms : kRooms) {
    Records records = Draw(&rng, 3000, 20, false, 2);
    for (auto& [key, value] : records) {
      value.resize(rng.Uniform(10));
      for (char& c : value) c = static_cast<char>(rng.Uniform(256));
    }
    CheckSorts(records, {}, rooms);
    CheckSorts(records, {2, 6, 12}, rooms);
  }
}

// More keys agree in their first 64 bits, and behind those, than are sorted by comparing.
TEST(BinSorterTest, ManyKeysThatAgreeForLong) {
  Rng rng(10);
  for (const Rooms& rooms : kRooms) {
    Records records;
    for (int i = 0; i < 20'000; ++i) {
      std::string key = rng.Uniform(2) == 0 ? "Comment:" : "Post:";
      key += std::string(rng.Uniform(3) * 40, static_cast<char>('a' + rng.Uniform(2)));
      key += std::to_string(1'099'511'627'776 + rng.Uniform(100'000));
      if (rng.Uniform(4) == 0) key += std::string(rng.Uniform(2), '\0');
      records.emplace_back(key, std::to_string(i));
    }
    CheckSorts(records, {}, rooms);
  }
}

// One bin is read while records for another make the sorter spill, as the last stage does.
TEST(BinSorterTest, ABinThatIsOpenStaysInMemory) {
  storage::TempFolder temp;
  SortRoom room(temp.path(), 64 << 10, 64 * kMebibyte, kMebibyte);
  BinSorter sorter(&room, 2, 32 << 10);
  BinWriter writer(&sorter, 1000);
  Records expected;
  for (int i = 100; i < 400; ++i) {
    expected.emplace_back(std::to_string(i) + std::string(40, 'x'), "");
    ASSERT_TRUE(writer.Add(0, expected.back().first, "").ok());
  }
  ASSERT_TRUE(writer.Finish().ok());
  {
    auto bin = sorter.Open(0);
    ASSERT_TRUE(bin.ok()) << bin.status();
    for (int i = 0; i < 2000; ++i) ASSERT_TRUE(writer.Add(1, std::string(50, 'y'), "").ok());
    ASSERT_TRUE(writer.Finish().ok());
    EXPECT_GT(sorter.spilled_bytes(), 0u);
    EXPECT_EQ(ReadBin(bin->get()), expected);
  }
  sorter.Drop(0);
}

TEST(BinSorterTest, LargeValuesPassUnharmed) {
  for (const Rooms& rooms : kRooms) {
    CheckSorts({{"b", std::string(40'000, 'x')}, {"a", ""}, {"", std::string(130, 'y')}}, {},
               rooms);
  }
}

}  // namespace
}  // namespace koios::import
