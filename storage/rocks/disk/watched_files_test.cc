// What the high-water mark is told of files that RocksDB would write.
#include "storage/rocks/disk/watched_files.h"

#include <gtest/gtest.h>

#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

class WatchedFilesTest : public ::testing::Test {
 protected:
  using File = std::unique_ptr<rocksdb::FSWritableFile>;

  File Create(const std::string& name) {
    File file;
    EXPECT_TRUE(files().NewWritableFile(folder_ / name, {}, &file, nullptr).ok());
    return file;
  }
  void AppendAndSync(const File& file) {
    EXPECT_TRUE(file->Append("bytes", {}, nullptr).ok());
    EXPECT_TRUE(file->Sync({}, nullptr).ok());
  }
  void MakeCurrent() {
    AppendAndSync(Create("CURRENT.new"));
    EXPECT_TRUE(files().RenameFile(folder_ / "CURRENT.new", folder_ / "CURRENT", {}, nullptr).ok());
  }
  void SyncTheFolder() {
    std::unique_ptr<rocksdb::FSDirectory> folder;
    ASSERT_TRUE(files().NewDirectory(folder_.path(), {}, &folder, nullptr).ok());
    EXPECT_TRUE(folder->FsyncWithDirOptions({}, nullptr, {}).ok());
  }
  rocksdb::FileSystem& files() { return *env_->GetFileSystem(); }
  // Of a log, as the file says.
  uint64_t MarkedBytes(uint64_t log) {
    const MarkContent content = ReadMark(folder_ / "MARK").value();
    const auto found = content.logs.find(log);
    return found == content.logs.end() ? 0 : found->second.bytes;
  }

  TempFolder folder_;
  const std::shared_ptr<HighWaterMark> mark_ = HighWaterMark::Create(folder_ / "MARK", {}).value();
  const std::unique_ptr<rocksdb::Env> env_ = NewWatchedEnv(rocksdb::FileSystem::Default(), mark_);
};

// The power may fail between the two syncs of a new log, of its bytes and of its name, when
// somebody else has written the mark meanwhile: it must not say more than is on disk.
TEST_F(WatchedFilesTest, ALogIsMarkedWhenItsNameIsOnDisk) {
  const File manifest = Create("MANIFEST-000004");
  AppendAndSync(manifest);
  MakeCurrent();
  const File log = Create("000012.log");
  AppendAndSync(log);
  AppendAndSync(manifest);
  EXPECT_EQ(ReadMark(folder_ / "MARK")->manifest.bytes, 10);
  EXPECT_EQ(MarkedBytes(12), 0);
  SyncTheFolder();
  AppendAndSync(manifest);
  EXPECT_EQ(MarkedBytes(12), 5);
  AppendAndSync(log);
  ASSERT_TRUE(mark_->SetVersion(1).ok());
  EXPECT_EQ(MarkedBytes(12), 10);
}

TEST_F(WatchedFilesTest, ALogThatIsDeletedIsForgottenBefore) {
  for (const bool named : {true, false}) {
    AppendAndSync(Create("000012.log"));
    if (named) SyncTheFolder();
    ASSERT_TRUE(mark_->SetVersion(1).ok());
    EXPECT_EQ(MarkedBytes(12), named ? 5 : 0);
    ASSERT_TRUE(files().DeleteFile(folder_ / "000012.log", {}, nullptr).ok());
    EXPECT_EQ(MarkedBytes(12), 0);
    SyncTheFolder();
    ASSERT_TRUE(mark_->SetVersion(1).ok());
    EXPECT_EQ(MarkedBytes(12), 0);
  }
}

}  // namespace
}  // namespace koios::storage
