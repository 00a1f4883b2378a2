// The parts of a delta, each beside a plain container.
#include "storage/delta/delta.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>

#include "core/random.h"
#include "storage/codec/records.h"
#include "storage/delta/delta_record.h"

namespace koios::storage {
namespace {

std::shared_ptr<DeltaBudget> Budget() { return std::make_shared<DeltaBudget>(size_t{1} << 30); }

struct CountingHolder final : DeltaHolder {
  CountingHolder(size_t delta_bytes, bool can) : bytes(delta_bytes), can_fold(can) {}
  size_t DeltaBytes() const override { return bytes; }
  bool CanFold() const override { return can_fold; }
  void RequestFold() override { ++requests; }
  size_t bytes;
  bool can_fold;
  int requests = 0;
};

TEST(DeltaBudgetTest, AsksTheLargestThatCanFold) {
  DeltaBudget budget(800);
  EXPECT_FALSE(budget.AskForRoom());  // old deltas take it all
  CountingHolder small(99, true), medium(150, true), large(300, true), stuck(400, false);
  for (CountingHolder* holder : {&small, &medium, &large, &stuck}) budget.Add(holder);
  EXPECT_TRUE(budget.AskForRoom());
  EXPECT_EQ(large.requests, 1);
  budget.Remove(&large);
  EXPECT_TRUE(budget.AskForRoom());
  EXPECT_EQ(medium.requests, 1);
  budget.Remove(&medium);
  EXPECT_FALSE(budget.AskForRoom());
  budget.Remove(&stuck);
  EXPECT_FALSE(budget.AskForRoom());
  EXPECT_EQ(small.requests + stuck.requests, 0);
  budget.Remove(&small);
}

TEST(DeltaArenaTest, IsChargedAndReleased) {
  const auto budget = Budget();
  {
    DeltaArena arena(budget);
    for (const size_t size : {1, 8, 9, 1023, 4096, 5000, 100'000, 3'000'000, 7}) {
      char* const bytes = static_cast<char*>(arena.Take(size));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % 8, 0);
      for (size_t i = 0; i < size; ++i) ASSERT_EQ(bytes[i], 0);
      std::memset(bytes, 1, size);
    }
    EXPECT_EQ(budget->used_bytes(), arena.bytes());
    EXPECT_GE(arena.bytes(), size_t{3'110'000});
    EXPECT_LE(arena.bytes(), size_t{3'500'000});
  }
  EXPECT_EQ(budget->used_bytes(), 0);
}

TEST(TouchedBitsTest, AreWhatWasSet) {
  DeltaArena arena(Budget());
  TouchedBits bits;
  std::map<uint64_t, uint8_t> expected;
  Rng random(7);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t local = random.Uniform(random.Chance(0.5) ? 100 : 3'000'000);
    const auto set = static_cast<uint8_t>(1 + random.Uniform(15));
    bits.Set(local, set, &arena);
    expected[local] |= set;
  }
  for (const auto& [local, set] : expected) ASSERT_EQ(bits.Of(local), set);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t local = random.Uniform(kLocalMask);
    ASSERT_EQ(bits.Of(local), expected.contains(local) ? expected[local] : 0);
  }
}

using Key = std::tuple<uint32_t, uint64_t, uint64_t>;
Key Of(const ChangeKey& key) { return {key.label, key.first, key.second}; }

// Sets by version beside a base, which the changes know nothing of.
TEST(SortedChangesTest, EachVersionSeesItsOwn) {
  for (const uint64_t range : {3, 40, 100'000}) {
    DeltaArena arena(Budget());
    SortedChanges changes;
    Rng random(range);
    std::set<Key> base, members;
    const auto key = [&] {
      return ChangeKey{static_cast<uint32_t>(1 + random.Uniform(3)), random.Uniform(range),
                       random.Uniform(3)};
    };
    for (int i = 0; i < 50; ++i) base.insert(Of(key()));
    members = base;
    std::vector<std::set<Key>> versions = {members};
    for (uint64_t version = 1; version <= 200; ++version) {
      for (uint64_t i = random.Uniform(20); i > 0; --i) {
        const ChangeKey one = key();
        const bool added = !members.contains(Of(one));
        changes.Add(one, added, version, &arena);
        if (added) {
          members.insert(Of(one));
        } else {
          members.erase(Of(one));
        }
      }
      versions.push_back(members);
    }
    for (uint64_t version = 0; version < versions.size(); version += 7) {
      std::set<Key> found = base;
      SortedChanges::Reader reader(&changes, version);
      std::optional<Key> last;
      for (reader.Seek({}); reader.Valid(); reader.Next()) {
        const auto [changed, difference] = reader.change();
        ASSERT_TRUE(!last || *last < Of(changed));
        last = Of(changed);
        if (difference == 0) continue;
        ASSERT_EQ(difference > 0, !base.contains(Of(changed)));
        if (difference > 0) {
          found.insert(Of(changed));
        } else {
          found.erase(Of(changed));
        }
      }
      ASSERT_EQ(found, versions[version]);
      // From anywhere on.
      const ChangeKey from = key();
      reader.Seek(from);
      ASSERT_TRUE(!reader.Valid() || Of(reader.change().key) >= Of(from));
    }
  }
}

TEST(SortedChangesTest, ManyEntriesAreFoundInFewSteps) {
  DeltaArena arena(Budget());
  SortedChanges changes;
  constexpr uint64_t kMany = 100'000;
  // Descending, ascending and between: no order of arrival makes it slow.
  for (uint64_t i = 0; i < kMany; ++i) {
    const uint64_t neighbour = i % 2 == 0 ? kMany - i : kMany + i;
    changes.Add({1, neighbour, i}, true, 1, &arena);
  }
  SortedChanges::Reader reader(&changes, 1);
  uint64_t found = 0;
  for (reader.Seek({}); reader.Valid(); reader.Next()) ++found;
  EXPECT_EQ(found, kMany);
}

// One thread adds, others read at a version that was published.
TEST(SortedChangesTest, ReadersBesideTheWriter) {
  DeltaArena arena(Budget());
  SortedChanges changes;
  std::atomic<uint64_t> published{0};
  constexpr uint64_t kVersions = 3000;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      for (uint64_t version = 0; version < kVersions;) {
        version = published.load(std::memory_order_acquire);
        SortedChanges::Reader reader(&changes, version);
        uint64_t found = 0;
        for (reader.Seek({}); reader.Valid(); reader.Next()) {
          found += static_cast<uint64_t>(reader.change().difference);
        }
        ASSERT_EQ(found, version);
      }
    });
  }
  for (uint64_t version = 1; version <= kVersions; ++version) {
    changes.Add({1, version * 7919 % kVersions, version}, true, version, &arena);
    published.store(version, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
}

std::string VertexBytes(const Value& id) { return EncodeVertexRecord(1, id, {}); }

TEST(DeltaRecordTest, ComesBackAndDamageIsTold) {
  DeltaRecord record(17);
  const EdgeRef edge{VertexRef::Make(1, 9).bits, VertexRef::Make(1, 2), VertexRef::Make(0, 3), 4};
  record.AddVertex(VertexRef::Make(1, 2), VertexBytes(Value::Long(5)));
  record.DropVertex(VertexRef::Make(1, 2), 1, "\1id");
  record.AddEdge(edge.id, EncodeEdgeRecord(edge, std::nullopt, {}));
  record.DropEdge(edge);
  DeltaRecordReader reader(record.bytes());
  EXPECT_EQ(reader.version_before(), 17);
  std::vector<ChangeKind> kinds;
  while (reader.Next()) kinds.push_back(reader.kind());
  EXPECT_TRUE(reader.status().ok());
  EXPECT_EQ(kinds, (std::vector{ChangeKind::kAddVertex, ChangeKind::kDropVertex,
                                ChangeKind::kAddEdge, ChangeKind::kDropEdge}));
  size_t whole = 0;
  for (size_t size = 0; size < record.bytes().size(); ++size) {
    Delta delta(2, Budget());
    if (delta.Apply(18, record.bytes().substr(0, size)).ok()) ++whole;
  }
  EXPECT_EQ(whole, 4);  // where a change ends
  Delta one_partition(1, Budget());
  EXPECT_EQ(one_partition.Apply(18, record.bytes()).code(), StatusCode::kDataLoss);
}

TEST(DeltaTest, TellsWhatAVersionHas) {
  Delta delta(2, Budget());
  EXPECT_TRUE(delta.empty());
  const VertexRef vertex = VertexRef::Make(1, 7);
  DeltaRecord add(0), set(1), drop(2);
  add.AddVertex(vertex, VertexBytes(Value::Long(5)));
  set.SetVertex(vertex, "changed");
  drop.DropVertex(vertex, 1, "x");
  ASSERT_TRUE(delta.Apply(1, add.bytes()).ok());
  ASSERT_TRUE(delta.Apply(2, set.bytes()).ok());
  ASSERT_TRUE(delta.Apply(3, drop.bytes()).ok());
  EXPECT_FALSE(delta.empty());
  EXPECT_TRUE(delta.Of(0).empty());
  const PartitionDelta& partition = delta.Of(1);
  EXPECT_EQ(partition.Touched(7), TouchedBits::kRecord);
  EXPECT_EQ(partition.Touched(6), 0);
  EXPECT_FALSE(partition.HasEnds(Direction::kOut, {}));
  std::string_view record;
  EXPECT_EQ(partition.FindVertex(7, 0, &record), DeltaState::kAsInBase);
  EXPECT_EQ(partition.FindVertex(7, 1, &record), DeltaState::kChanged);
  EXPECT_EQ(partition.FindVertex(7, 2, &record), DeltaState::kChanged);
  EXPECT_EQ(record, "changed");
  EXPECT_EQ(partition.FindVertex(7, 3, &record), DeltaState::kGone);
  EXPECT_EQ(partition.FindVertex(8, 3, &record), DeltaState::kAsInBase);
}

// What a commit asks room for in a delta is no less than it takes there, nor much more.
TEST(DeltaTest, TakesNoMoreThanItsRecordSays) {
  constexpr uint64_t kChanges = 17'000;
  const auto more_than_taken = [](uint64_t vertices, const auto& add) {
    DeltaRecord record(0);
    Rng random(5);
    for (uint64_t i = 0; i < kChanges; ++i) add(i, random, &record);
    Delta delta(2, Budget());
    EXPECT_TRUE(delta.Apply(1, record.bytes()).ok());
    const size_t most = record.MostDeltaBytes(vertices / TouchedBits::kLocalsPerPage + 2);
    EXPECT_LE(delta.bytes(), most);
    return static_cast<double>(most) / static_cast<double>(delta.bytes());
  };
  const auto drop = [](uint64_t i, uint64_t out, uint64_t in, DeltaRecord* record) {
    record->DropEdge(
        {VertexRef::Make(0, i + 1).bits, VertexRef::Make(0, out), VertexRef::Make(1, in), 4});
  };
  const auto of_hub = [&](uint64_t i, Rng&, DeltaRecord* record) { drop(i, 7, i, record); };
  const auto of_all = [&](uint64_t i, Rng&, DeltaRecord* record) { drop(i, i, i, record); };
  const auto of_others = [&](uint64_t i, Rng& random, DeltaRecord* record) {
    drop(i, random.Uniform(uint64_t{1} << 28), random.Uniform(uint64_t{1} << 28), record);
  };
  const auto vertex = [](uint64_t i, Rng&, DeltaRecord* record) {
    record->AddVertex(VertexRef::Make(i % 2, i), VertexBytes(Value::Long(static_cast<int64_t>(i))));
  };
  EXPECT_LT(more_than_taken(2 * kChanges, of_hub), 3);
  EXPECT_LT(more_than_taken(2 * kChanges, of_all), 2);
  EXPECT_LT(more_than_taken(uint64_t{1} << 29, of_others), 2);
  EXPECT_LT(more_than_taken(2 * kChanges, vertex), 3);
}

}  // namespace
}  // namespace koios::storage
