#include "core/memory/parted_table.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "core/memory/paged_list.h"
#include "gtest/gtest.h"

namespace koios {
namespace {

// An account with a limit.
struct Charged {
  Status Take(int64_t more) {
    if (used + more > limit) return ResourceExhausted("by the test", {});
    used += more;
    peak = std::max(peak, used);
    return OkStatus();
  }
  void Return(int64_t less) { used -= less; }

  int64_t used = 0, peak = 0, limit = INT64_MAX;
};

using Table = PartedTable<absl::flat_hash_map<int64_t, size_t>>;

Status Insert(Table* table, int64_t key, Charged* charged) {
  RETURN_IF_ERROR(table->MakeRoom(key, charged).status());
  table->Emplace(key, static_cast<size_t>(key) * 2);
  return OkStatus();
}

TEST(PartedTableTest, FindsWhatIsThereBeforeAndAfterItIsTakenApart) {
  Charged charged;
  Table table;
  EXPECT_TRUE(table.empty());
  constexpr int64_t kKeys = 200'000;
  for (int64_t key = 0; key < kKeys; ++key) {
    EXPECT_EQ(table.Find(key), nullptr);
    ASSERT_TRUE(Insert(&table, key, &charged).ok());
    if (key % 1000 != 0) continue;
    for (int64_t other = 0; other <= key; other += 997) {
      const auto* found = table.Find(other);
      ASSERT_NE(found, nullptr) << other << " of " << key;
      EXPECT_EQ(found->second, static_cast<size_t>(other) * 2);
    }
  }
  EXPECT_FALSE(table.Contains(kKeys));
  EXPECT_FALSE(table.empty());
  EXPECT_EQ(table.size(), static_cast<size_t>(kKeys));
  EXPECT_EQ(table.Room(), charged.used);
  EXPECT_EQ(table.Take(997), 2u * 997);
  EXPECT_EQ(table.size(), static_cast<size_t>(kKeys) - 1);
}

TEST(PartedTableTest, AWalkSeesEachEntryOnce) {
  for (const int64_t keys : {0, 1, 100, 100'000}) {
    Charged charged;
    Table table;
    for (int64_t key = 0; key < keys; ++key) ASSERT_TRUE(Insert(&table, key, &charged).ok());
    Table::Walk walk;
    std::set<int64_t> seen;
    size_t uses = 0;
    bool more = true;
    while (more) {
      const size_t before = uses;
      more = table.WalkSome(&walk, 1000, [&](const auto& entry) {
        seen.insert(entry.first);
        ++uses;
      });
      EXPECT_LE(uses - before, 1000u);
      EXPECT_EQ(more, uses > before);
    }
    EXPECT_EQ(uses, static_cast<size_t>(keys));
    EXPECT_EQ(seen.size(), static_cast<size_t>(keys));
  }
}

// A table that doubles has both on its account for a while: three times what it had. In parts it is
// one of 64.
TEST(PartedTableTest, GrowsWithoutTheMemoryOfBoth) {
  Charged charged;
  Table table;
  int64_t key = 0;
  for (; key < 40'000; ++key) ASSERT_TRUE(Insert(&table, key, &charged).ok());
  double worst = 1;
  for (; key < 500'000; ++key) {
    charged.peak = charged.used;
    const int64_t had = charged.used;
    ASSERT_TRUE(Insert(&table, key, &charged).ok());
    worst = std::max(worst, static_cast<double>(charged.peak) / static_cast<double>(had));
  }
  EXPECT_LT(worst, 1.1);
  EXPECT_GE(charged.used, key * static_cast<int64_t>(sizeof(std::pair<int64_t, size_t>)));
  EXPECT_LE(charged.used, 3 * key * static_cast<int64_t>(sizeof(std::pair<int64_t, size_t>)));
}

TEST(PartedTableTest, IsAsItWasWhenAChargeIsRefused) {
  Charged charged;
  Table table;
  int64_t refused = 0;
  for (int64_t key = 0; key < 120'000;) {
    charged.limit = charged.used + (key % 3 == 0 ? 100'000'000 : 0);
    if (Insert(&table, key, &charged).ok()) {
      ++key;
      continue;
    }
    ++refused;
    EXPECT_EQ(table.Find(key), nullptr);
    EXPECT_TRUE(key == 0 || table.Contains(key / 2));
    charged.limit = INT64_MAX;
    ASSERT_TRUE(Insert(&table, key, &charged).ok());
    ++key;
  }
  EXPECT_GT(refused, 10);
  for (int64_t key = 0; key < 120'000; ++key) ASSERT_TRUE(table.Contains(key)) << key;
}

// Parts of parts: with so many keys each of the first 64 is taken apart as well.
TEST(PartedTableTest, PartsAreTakenApartToo) {
  Charged charged;
  Table table;
  constexpr int64_t kKeys = 800'000;
  for (int64_t key = 0; key < kKeys; ++key) {
    ASSERT_TRUE(Insert(&table, key * 7, &charged).ok());
  }
  for (int64_t key = 0; key < kKeys; ++key) {
    const auto* found = table.Find(key * 7);
    ASSERT_NE(found, nullptr) << key;
    ASSERT_EQ(found->second, static_cast<size_t>(key) * 14);
    ASSERT_FALSE(table.Contains(key * 7 + 1));
  }
  Table::Walk walk;
  int64_t seen = 0;
  while (table.WalkSome(&walk, 1000, [&](const auto&) { ++seen; })) continue;
  EXPECT_EQ(seen, kKeys);
  // All that was charged is given back, some in each call.
  int64_t freed = 0;
  size_t calls = 1;
  for (; !table.FreeSome(&freed); ++calls) ASSERT_LE(freed, charged.used);
  EXPECT_EQ(freed, charged.used);
  EXPECT_GT(calls, 500u);
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.size(), 0u);
}

// One hash for all: they can't be told apart, and their part doubles.
TEST(PartedTableTest, KeysOfOneHashStayTogether) {
  struct OneHash {
    size_t operator()(int64_t) const { return 42; }
  };
  Charged charged;
  PartedTable<absl::flat_hash_set<int64_t, OneHash>> table;
  // Few: each look-up walks them all.
  for (int64_t key = 0; key < 8'000; ++key) {
    ASSERT_TRUE(table.MakeRoom(key, &charged).ok());
    table.Emplace(key);
  }
  for (int64_t key = 0; key < 8'000; key += 101) ASSERT_TRUE(table.Contains(key)) << key;
  EXPECT_FALSE(table.Contains(8'000));
}

TEST(PartedTableTest, TextsAreFoundByViews) {
  Charged charged;
  PartedTable<absl::flat_hash_set<std::string>> table;
  for (int i = 0; i < 50'000; ++i) {
    const std::string text = "text " + std::to_string(i);
    ASSERT_TRUE(table.MakeRoom(absl::string_view(text), &charged).ok());
    table.Emplace(absl::string_view(text));
  }
  EXPECT_TRUE(table.Contains(absl::string_view("text 49999")));
  EXPECT_FALSE(table.Contains(absl::string_view("text 50000")));
}

TEST(PagedListTest, KeepsWhatItHasWhereItIs) {
  Charged charged;
  PagedList<int64_t> list;
  const int64_t* early = nullptr;
  constexpr size_t kCount = 3 * PagedList<int64_t>::kPage + 5;
  for (size_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(list.MakeRoom(&charged).ok());
    list.EmplaceBack(static_cast<int64_t>(i) * 3);
    EXPECT_EQ(list.back(), static_cast<int64_t>(i) * 3);
    if (i == PagedList<int64_t>::kPage) early = &list[5];
  }
  EXPECT_EQ(early, &list[5]);
  ASSERT_EQ(list.size(), kCount);
  EXPECT_EQ(list.Room(), charged.used);
  for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(list[i], static_cast<int64_t>(i) * 3);
  EXPECT_GE(charged.used, static_cast<int64_t>(kCount * sizeof(int64_t)));
  EXPECT_LE(charged.used,
            static_cast<int64_t>((kCount + PagedList<int64_t>::kPage) * sizeof(int64_t) + 1024));
}

// What has no room as a whole leaves nothing behind, however many pages it has begun.
TEST(PagedListTest, ManyAreAddedOrNone) {
  constexpr size_t kPage = PagedList<int64_t>::kPage;
  for (const size_t there : {size_t{0}, size_t{5}, kPage - 3, kPage, 2 * kPage - 1}) {
    for (const int64_t more : {int64_t{2}, int64_t{10}, static_cast<int64_t>(3 * kPage)}) {
      Charged charged;
      PagedList<int64_t> list;
      for (size_t i = 0; i < there; ++i) ASSERT_TRUE(list.Add(7, 1, &charged).ok());
      const int64_t bytes = charged.used;
      // Each limit below what it needs.
      for (int64_t room = 0;; room += 4096) {
        charged.limit = charged.used + room;
        const Status added = list.Add(8, more, &charged);
        charged.limit = INT64_MAX;
        if (added.ok()) break;
        ASSERT_EQ(list.size(), there) << more << " " << room;
        // The page that was there may have more room now, and the list of pages.
        ASSERT_LE(charged.used, bytes + static_cast<int64_t>(kPage * sizeof(int64_t)) + 256);
      }
      ASSERT_EQ(list.size(), there + static_cast<size_t>(more));
      for (size_t i = 0; i < list.size(); ++i) ASSERT_EQ(list[i], i < there ? 7 : 8) << i;
    }
  }
}

}  // namespace
}  // namespace koios
