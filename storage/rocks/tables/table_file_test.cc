// Files that RocksDB must take for its own: read, checked, ingested, and the same records in them
// as in a file of its writer.
#include "storage/rocks/tables/table_file.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>

#include <map>
#include <string>

#include "core/random.h"
#include "storage/codec/keys.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

using Records = std::map<std::string, std::string>;

void Write(const Records& records, const std::string& path, size_t block_bytes) {
  auto file = TableFile::Create(SnapshotDisk::Real(), path, block_bytes);
  ASSERT_TRUE(file.ok()) << file.status();
  for (const auto& [key, value] : records) ASSERT_TRUE((*file)->Add(key, value).ok());
  ASSERT_TRUE((*file)->Finish().ok());
}

Records ReadAll(rocksdb::Iterator* records) {
  Records out;
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    EXPECT_TRUE(out.emplace(records->key().ToString(), records->value().ToString()).second);
  }
  EXPECT_TRUE(records->status().ok()) << records->status().ToString();
  return out;
}

void CheckFile(const Records& records, const std::string& path) {
  rocksdb::SstFileReader reader{rocksdb::Options()};
  ASSERT_TRUE(reader.Open(path).ok());
  EXPECT_TRUE(reader.VerifyChecksum().ok());
  EXPECT_EQ(reader.GetTableProperties()->num_entries, records.size());
  const std::unique_ptr<rocksdb::Iterator> all(reader.NewIterator(rocksdb::ReadOptions()));
  EXPECT_EQ(ReadAll(all.get()), records);
  for (const auto& [key, value] : records) {
    all->Seek(key);
    ASSERT_TRUE(all->Valid());
    EXPECT_EQ(all->key().ToString(), key);
  }
}

// Ingested, changed, compacted, opened again with checks of everything.
void CheckDatabase(Records records, const storage::TempFolder& temp, const std::string& path) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.paranoid_checks = true;
  options.force_consistency_checks = true;
  rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, temp / "db", &opened).ok());
  std::unique_ptr<rocksdb::DB> db(opened);
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  ingest.write_global_seqno = false;
  ingest.verify_checksums_before_ingest = true;
  const rocksdb::Status taken = db->IngestExternalFile({path}, ingest);
  ASSERT_TRUE(taken.ok()) << taken.ToString();
  const std::string first = records.begin()->first;
  ASSERT_TRUE(db->Delete(rocksdb::WriteOptions(), first).ok());
  ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "put later", "v").ok());
  records.erase(first);
  records["put later"] = "v";
  ASSERT_TRUE(db->Flush(rocksdb::FlushOptions()).ok());
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(db->VerifyChecksum().ok());
    {
      const std::unique_ptr<rocksdb::Iterator> all(db->NewIterator(rocksdb::ReadOptions()));
      EXPECT_EQ(ReadAll(all.get()), records);
    }
    std::string value;
    for (const auto& [key, expected] : records) {
      ASSERT_TRUE(db->Get(rocksdb::ReadOptions(), key, &value).ok());
      EXPECT_EQ(value, expected);
    }
    if (round == 0) {
      ASSERT_TRUE(db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
    }
    db.reset();
    ASSERT_TRUE(rocksdb::DB::Open(options, temp / "db", &opened).ok());
    db.reset(opened);
  }
}

void Check(const Records& records, size_t block_bytes) {
  const TempFolder temp;
  const std::string path = temp / "1.sst";
  Write(records, path, block_bytes);
  CheckFile(records, path);
  CheckDatabase(records, temp, path);
}

TEST(TableFileTest, OneRecord) {
  Check({{"key", "value"}}, 8192);
  Check({{"key", ""}}, 8192);
  Check({{"key", std::string(100'000, 'x')}}, 8192);
}

// Also where a block begins, which shares nothing with the one before.
TEST(TableFileTest, KeysThatDoNotAscendAreRefused) {
  for (const size_t block_bytes : {1, 8192}) {
    const TempFolder temp;
    auto file = TableFile::Create(SnapshotDisk::Real(), temp / "1.sst", block_bytes);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE((*file)->Add("", "v").ok());
    EXPECT_TRUE(absl::IsFailedPrecondition((*file)->Add("", "v")));
    ASSERT_TRUE((*file)->Add("12345678ab", "v").ok());
    for (const char* key : {"12345678ab", "12345678a", "12345678aa", "1234567", ""}) {
      EXPECT_TRUE(absl::IsFailedPrecondition((*file)->Add(key, "v"))) << key;
    }
    EXPECT_TRUE((*file)->Add("12345678ab\xff", "v").ok());
    EXPECT_TRUE((*file)->Add("12345678\x80", "v").ok());
    ASSERT_TRUE((*file)->Finish().ok());
    CheckFile({{"", "v"}, {"12345678ab", "v"}, {"12345678ab\xff", "v"}, {"12345678\x80", "v"}},
              temp / "1.sst");
  }
}

TEST(TableFileTest, EdgeEnds) {
  Rng rng(1);
  Records records;
  for (uint64_t vertex = 1; vertex < 500; ++vertex) {
    for (uint64_t i = rng.Uniform(30); i > 0; --i) {
      const EdgeEnd end{VertexRef::Make(3, vertex), Direction::kOut, 1,
                        VertexRef::Make(static_cast<uint32_t>(rng.Uniform(16)), rng.Uniform(900)),
                        rng.Uniform(1 << 20)};
      records[EdgeEndKey(end)] = "";
    }
  }
  Check(records, 16 * 1024);
}

// Sizes around what one byte of a varint, a restart and a block can take.
TEST(TableFileTest, KeysAndValuesOfAllSizes) {
  Rng rng(2);
  for (const size_t count : {2, 15, 16, 17, 33, 400}) {
    Records records;
    for (size_t i = 0; i < count; ++i) {
      const size_t sizes[] = {0, 1, 7, 8, 119, 120, 127, 128, 300, 9000};
      std::string key(sizes[rng.Uniform(9)], 'k');
      key += std::to_string(rng.Uniform(1000)) + std::string(sizes[rng.Uniform(8)], '\0');
      std::string value(sizes[rng.Uniform(10)], '\0');
      for (char& c : value) c = static_cast<char>(rng.Uniform(i % 2 == 0 ? 2 : 256));
      records[key] = value;
    }
    for (const size_t block_bytes : {64, 8192}) Check(records, block_bytes);
  }
}

}  // namespace
}  // namespace koios::storage
