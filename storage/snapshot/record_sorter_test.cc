// Sorting and spilling with budgets that are far too small.
#include "storage/snapshot/record_sorter.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/random.h"
#include "core/value_codec.h"
#include "storage/disk/files.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

std::string RandomBytes(Rng* rng, uint64_t most) {
  std::string out(rng->Uniform(most), '\0');
  for (char& c : out) c = static_cast<char>(rng->Uniform(3));
  return out;
}

TEST(RecordSorterTest, AnyOrderAndSize) {
  for (const size_t budget : {size_t{1}, size_t{10'000}, size_t{10} << 20}) {
    Rng rng(budget);
    TempFolder folder;
    SpillSpace space(folder.path(), budget);
    RecordSorter sorter(&space);
    std::multimap<std::string, std::string> expected;  // equal keys as they were added
    for (int i = 0; i < 3000; ++i) {
      const std::string key = RandomBytes(&rng, 6);
      const std::string value = RandomBytes(&rng, i % 100 == 0 ? 5000 : 20);
      sorter.Add(key, value);
      expected.emplace(key, value);
    }
    sorter.Sort();
    for (const auto& [key, value] : expected) {
      ASSERT_TRUE(sorter.Valid());
      ASSERT_EQ(sorter.key(), key);
      ASSERT_EQ(sorter.value(), value);
      sorter.Next();
    }
    EXPECT_FALSE(sorter.Valid());
    EXPECT_TRUE(sorter.status().ok());
    EXPECT_EQ(space.spilled_bytes() > 0, budget < (size_t{10} << 20));
    // The temporary file has no name.
    EXPECT_TRUE(ListFolder(folder.path())->empty());
  }
}

TEST(SpillTest, StreamsSideBySide) {
  TempFolder folder;
  SpillSpace space(folder.path(), 1000);
  SpillBuffer first(&space), second(&space);
  std::string expected;
  for (uint64_t i = 0; i < 5000; ++i) {
    std::string bytes;
    PutVarint(i * i, &bytes);
    first.Append(bytes);
    second.AppendNumber(static_cast<uint32_t>(i));
    expected += bytes;
  }
  EXPECT_EQ(first.bytes(), expected.size());
  for (const size_t window : {size_t{1}, size_t{7}, size_t{100'000}}) {
    SpillReader numbers(first, window), all(first, window), fixed(second, window);
    for (uint64_t i = 0; i < 5000; ++i) {
      uint64_t number = 0;
      uint32_t narrow = 0;
      ASSERT_TRUE(numbers.ReadVarint(&number));
      ASSERT_EQ(number, i * i);
      ASSERT_TRUE(fixed.ReadNumber(&narrow));
      ASSERT_EQ(narrow, i);
    }
    uint64_t none = 0;
    EXPECT_FALSE(numbers.ReadVarint(&none));
    std::string read;
    for (std::string_view bytes = all.Next(); !bytes.empty(); bytes = all.Next()) read += bytes;
    EXPECT_EQ(read, expected);
  }
}

TEST(SpillTest, WhatCantBeSpilledIsAnError) {
  TempFolder folder;
  SpillSpace space(folder / "gone", 100);
  SpillBuffer buffer(&space);
  for (int i = 0; i < 100; ++i) buffer.AppendNumber(uint64_t{7});
  EXPECT_EQ(space.status().code(), StatusCode::kNotFound);
  SpillReader reader(buffer);
  while (!reader.Next().empty()) {
  }
  EXPECT_EQ(reader.status().code(), StatusCode::kNotFound);
}

TEST(SpillTest, WhatIsHeldHasABound) {
  TempFolder folder;
  SpillSpace space(folder.path(), 100);
  EXPECT_TRUE(space.TryHold(50));
  EXPECT_FALSE(space.TryHold(1));
  space.Release(50);
  EXPECT_TRUE(space.TryHold(1));
}

}  // namespace
}  // namespace koios::storage
