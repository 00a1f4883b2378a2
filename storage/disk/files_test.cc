#include "storage/disk/files.h"

#include <gtest/gtest.h>

#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

TEST(Files, WriteReadListRemove) {
  TempFolder folder;
  ASSERT_TRUE(MakeFolder(folder / "a/b").ok());
  ASSERT_TRUE(WriteFileDurably(folder / "a/b/file", "one").ok());
  ASSERT_TRUE(WriteFileDurably(folder / "a/b/file", "two").ok());
  EXPECT_EQ(ReadSmallFile(folder / "a/b/file").value(), "two");
  EXPECT_EQ(ListFolder(folder / "a/b").value(), std::vector<std::string>{"file"});
  EXPECT_TRUE(RemovePath(folder / "a").ok());
  EXPECT_TRUE(RemovePath(folder / "a").ok());
  EXPECT_FALSE(PathExists(folder / "a"));
}

TEST(Files, ErrorsNameThePath) {
  TempFolder folder;
  const Status missing = ReadSmallFile(folder / "none").status();
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_NE(MessageOf(missing).find(folder / "none"), std::string::npos);
  EXPECT_EQ(ListFolder(folder / "none").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(WriteFileDurably(folder / "none/file", "x").code(), StatusCode::kNotFound);
  ASSERT_TRUE(WriteFileDurably(folder / "large", std::string(70'000, 'x')).ok());
  EXPECT_EQ(ReadSmallFile(folder / "large").status().code(), StatusCode::kDataLoss);
}

TEST(Files, LocksExclude) {
  TempFolder folder;
  const std::string path = folder / "LOCK";
  auto lock = FileLock::Acquire(path, false, "It").value();
  const Status taken = FileLock::Acquire(path, false, "It").status();
  EXPECT_EQ(taken.code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(MessageOf(taken).starts_with("It is in use by process "));
  EXPECT_EQ(FileLock::Acquire(path, true, "It").status().code(), StatusCode::kFailedPrecondition);
  lock = nullptr;
  auto shared = FileLock::Acquire(path, true, "It").value();
  EXPECT_TRUE(FileLock::Acquire(path, true, "It").ok());
  EXPECT_EQ(FileLock::Acquire(path, false, "It").status().code(), StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace koios::storage
