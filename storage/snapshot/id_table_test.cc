// Tables of many ids, also when they crowd into few buckets.
#include "storage/snapshot/id_table.h"

#include <gtest/gtest.h>

#include <set>

#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

// Writes a table of ids "0", "1", ... whose local is their number + 1, and looks for all of them.
void WriteAndFind(uint64_t num_ids, uint64_t most_narrow) {
  TempFolder folder;
  SpillSpace space(folder.path(), 1 << 16);
  const StageContext context{&space, NarrowRefs(1), most_narrow};
  IdTableWriter table(context);
  for (uint64_t i = 0; i < num_ids; ++i) table.Add(std::to_string(i), i + 1);
  SnapshotHeader header;
  header.number = 1;
  header.num_partitions = 1;
  auto writer = SnapshotWriter::Create(SnapshotDisk::Real(), folder.path(), header, 0).value();
  ASSERT_TRUE(table.Write(writer.get()).ok());
  const auto name = writer->Finish(header).value();
  const auto file = MappedFile::Open(folder.path(), 0, name).value();
  ASSERT_EQ(file->directory().size(), 1);
  const MappedSection section(file, file->directory()[0]);
  const bool wide = section.width() == sizeof(IdBucketOf<uint64_t>);
  EXPECT_EQ(wide, num_ids > most_narrow);
  uint64_t candidates = 0;
  for (uint64_t i = 0; i < 2 * num_ids + 10; ++i) {
    bool found = false;
    const auto check = [&](uint64_t local) -> StatusOr<bool> {
      ++candidates;
      found |= local == i + 1;
      return found;
    };
    const IdSlot slot = IdSlot::Of(std::to_string(i));
    ASSERT_TRUE((wide ? ProbeIdTable<uint64_t>(section, num_ids, slot, check)
                      : ProbeIdTable<uint32_t>(section, num_ids, slot, check))
                    .ok());
    EXPECT_EQ(found, i < num_ids) << i;
  }
  // A tag seldom lies.
  EXPECT_LT(candidates, num_ids + num_ids / 5 + 10);
}

TEST(IdTableTest, AllAreFoundAndOthersAreNot) {
  for (const uint64_t num_ids : {0, 1, 11, 12, 13, 500, 20'000}) {
    WriteAndFind(num_ids, 0xFFFFFFFF);
    WriteAndFind(num_ids, 100);
  }
}

TEST(IdTableTest, BucketsAscendWithTheHash) {
  std::set<std::pair<uint64_t, uint64_t>> buckets;
  for (int i = 0; i < 1000; ++i) {
    const IdSlot slot = IdSlot::Of(std::to_string(i));
    EXPECT_LT(slot.Bucket(7), 7);
    EXPECT_NE(slot.tag(), 0);
    buckets.insert({slot.hash, slot.Bucket(7)});
  }
  uint64_t last = 0;
  for (const auto& [hash, bucket] : buckets) {
    EXPECT_GE(bucket, last);
    last = bucket;
  }
}

}  // namespace
}  // namespace koios::storage
