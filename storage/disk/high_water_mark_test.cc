#include "storage/disk/high_water_mark.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "storage/disk/files.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

namespace fs = std::filesystem;

class HighWaterMarkTest : public testing::Test {
 protected:
  // A file in the folder, and what the mark says of its first `bytes`.
  MarkedFile Write(const std::string& name, uint64_t number, size_t bytes) {
    const std::string path = folder_ / name;
    CHECK(WriteFileDurably(path, std::string(bytes, 'a') + "behind").ok());
    const FileHash hash = HashFile(path, bytes).value();
    return {number, hash.bytes, hash.hash};
  }
  std::string Problem(const MarkContent& content) {
    return MessageOf(CheckMarkedFiles(content, folder_.path()));
  }

  TempFolder folder_;
  const std::string path_ = folder_ / "MARK";
};

TEST_F(HighWaterMarkTest, SaysWhatItWasTold) {
  EXPECT_EQ(ReadMark(path_).status().code(), StatusCode::kNotFound);
  {
    auto mark = HighWaterMark::Create(path_, {}).value();
    EXPECT_EQ(mark->version(), 0u);
    mark->NoteLog({4, 100, 17});
    mark->NoteLog({4, 200, 18});
    mark->NoteLog({9, 50, 19});
    ASSERT_TRUE(mark->SetManifest({5, 1000, 20}).ok());
    ASSERT_TRUE(mark->SetVersion(7).ok());
    ASSERT_TRUE(mark->ForgetLog(9).ok());
    ASSERT_TRUE(mark->ForgetLog(77).ok());
    const MarkContent content = ReadMark(path_).value();  // while it is open, too
    EXPECT_EQ(content.version, 7u);
    EXPECT_EQ(content.manifest.number, 5u);
    EXPECT_EQ(content.manifest.bytes, 1000u);
    EXPECT_EQ(content.manifest.hash, 20u);
    ASSERT_EQ(content.logs.size(), 1u);
    EXPECT_EQ(content.logs.at(4).bytes, 200u);
    EXPECT_EQ(content.logs.at(4).hash, 18u);
  }
  auto mark = HighWaterMark::Open(path_).value();
  EXPECT_EQ(mark->version(), 7u);
  ASSERT_TRUE(mark->SetVersion(8).ok());
  EXPECT_EQ(ReadMark(path_)->version, 8u);
  EXPECT_EQ(ReadMark(path_)->logs.size(), 1u);
}

// Of two slots one is always whole, and the newer one counts.
TEST_F(HighWaterMarkTest, ATornWriteLeavesTheOneBefore) {
  auto mark = HighWaterMark::Create(path_, {}).value();
  ASSERT_TRUE(mark->SetVersion(1).ok());
  ASSERT_TRUE(mark->SetVersion(2).ok());
  const std::string good = ReadSmallFile(path_).value();
  ASSERT_EQ(good.size(), 2 * kMarkSlotBytes);
  for (size_t at = 0; at < good.size(); at += 61) {
    std::string torn = good;
    torn[at] = static_cast<char>(torn[at] ^ 1);
    ASSERT_TRUE(WriteFileDurably(path_, torn).ok());
    const uint64_t version = ReadMark(path_).value().version;
    EXPECT_EQ(version, at < kMarkSlotBytes ? 1u : 2u) << at;
  }
  std::string worse = good;
  worse[9] = worse[kMarkSlotBytes + 9] = 'x';
  for (const std::string& bad : {worse, std::string(), good.substr(0, 100), std::string(9999, 0)}) {
    ASSERT_TRUE(WriteFileDurably(path_, bad).ok());
    EXPECT_EQ(ReadMark(path_).status().code(), StatusCode::kDataLoss);
    EXPECT_EQ(HighWaterMark::Open(path_).status().code(), StatusCode::kDataLoss);
  }
}

TEST_F(HighWaterMarkTest, HoldsTheNewestOfTooManyLogs) {
  auto mark = HighWaterMark::Create(path_, {}).value();
  for (uint64_t number = 1; number <= 3 * kMaxMarkedLogs; ++number) {
    mark->NoteLog({number, 1, number});
  }
  ASSERT_TRUE(mark->SetVersion(1).ok());
  const MarkContent content = ReadMark(path_).value();
  EXPECT_EQ(content.logs.size(), kMaxMarkedLogs);
  EXPECT_EQ(content.logs.rbegin()->first, 3 * kMaxMarkedLogs);
}

TEST_F(HighWaterMarkTest, FindsFilesThatAreNotWhatTheyWere) {
  MarkContent content;
  content.manifest = Write("MANIFEST-000005", 5, 300'000);
  content.logs[12] = Write("000012.log", 12, 1000);
  ASSERT_TRUE(WriteFileDurably(folder_ / "CURRENT", "MANIFEST-000005\n").ok());
  EXPECT_EQ(Problem(content), "");
  // Longer is no damage: the end was not synced.
  fs::resize_file(folder_ / "000012.log", 1001);
  EXPECT_EQ(Problem(content), "");
  fs::resize_file(folder_ / "000012.log", 999);
  EXPECT_EQ(Problem(content), "The file 000012.log was cut short: 999 bytes are left of 1000.");
  fs::resize_file(folder_ / "000012.log", 1000);  // with a zero at the end
  EXPECT_EQ(Problem(content), "The file 000012.log was changed.");
  fs::remove(folder_ / "000012.log");
  EXPECT_EQ(Problem(content), "The file 000012.log is gone.");
  content.logs.clear();
  fs::resize_file(folder_ / "MANIFEST-000005", 10);
  EXPECT_NE(Problem(content).find("MANIFEST-000005 was cut short"), std::string::npos);
  ASSERT_TRUE(WriteFileDurably(folder_ / "CURRENT", "MANIFEST-000004\n").ok());
  EXPECT_NE(Problem(content).find("older"), std::string::npos);
  ASSERT_TRUE(WriteFileDurably(folder_ / "CURRENT", "MANIFEST-00000x\n").ok());
  EXPECT_NE(Problem(content).find("CURRENT is damaged"), std::string::npos);
  // One that is newer than the mark knows was begun and not finished; RocksDB reads it.
  ASSERT_TRUE(WriteFileDurably(folder_ / "CURRENT", "MANIFEST-000006\n").ok());
  EXPECT_EQ(Problem(content), "");
  fs::remove(folder_ / "CURRENT");
  EXPECT_NE(Problem(content).find("CURRENT is gone"), std::string::npos);
}

}  // namespace
}  // namespace koios::storage
