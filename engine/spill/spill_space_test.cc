#include "engine/spill/spill_space.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "storage/temp_folder.h"

namespace koios::engine {
namespace {

const char kFolder[] = "/tmp";

TEST(SpillSpaceTest, BlocksComeBackOnceAndTheirRoomIsFree) {
  SpillSpace space(kFolder);
  const std::string first(100'000, 'a'), second = "b", empty;
  {
    auto file = *space.Open();
    const uint64_t at[] = {*file->Append(first), *file->Append(second), *file->Append(empty)};
    EXPECT_GT(space.used(), 0u);
    EXPECT_LT(space.used(), 2000u);  // compressed
    EXPECT_EQ(*file->Take(at[1]), second);
    EXPECT_EQ(*file->Take(at[0]), first);
    EXPECT_EQ(*file->Take(at[2]), empty);
    EXPECT_EQ(space.used(), 0u);
    file->Drop(*file->Append(first));
    EXPECT_EQ(space.used(), 0u);
    ASSERT_TRUE(file->Append(first).ok());
  }
  EXPECT_EQ(space.used(), 0u);  // with the file
}

TEST(SpillSpaceTest, BlocksAreReadAgainUntilTheyAreDroppedTogether) {
  SpillSpace space(kFolder);
  auto file = *space.Open();
  const uint64_t other = *file->Append("other");
  std::vector<uint64_t> at;
  for (int i = 0; i < 100; ++i) at.push_back(*file->Append(std::to_string(i)));
  const uint64_t used = space.used();
  for (int time = 0; time < 2; ++time) {
    for (int i = 0; i < 100; ++i) EXPECT_EQ(*file->Read(at[i]), std::to_string(i));
  }
  EXPECT_EQ(space.used(), used);
  file->DropRange(at[0], file->end());
  EXPECT_LT(space.used(), used);
  EXPECT_EQ(*file->Take(other), "other");
  EXPECT_EQ(space.used(), 0u);
  EXPECT_EQ(file->end(), 0u);
}

std::string Noise(uint32_t seed, size_t size) {
  std::string noise;
  for (uint32_t i = 0; i < size; ++i) {
    noise.push_back(static_cast<char>((i + seed) * (i + seed) * 2654435761u >> 13));
  }
  return noise;
}

// However small they are, and in whatever order they go.
TEST(SpillSpaceTest, TheDiskHasItsPagesBack) {
  SpillSpace space(kFolder);
  for (const size_t size : {300, 1500, 3000, 20'000}) {
    for (const uint32_t stride : {1, 7, 298}) {
      auto file = *space.Open();
      std::vector<uint64_t> at;
      for (uint32_t i = 0; i < 300; ++i) at.push_back(*file->Append(Noise(i, size)));
      const uint64_t before = file->BytesOnDisk();
      ASSERT_GT(before, 300 * size / 4 * 3);
      for (uint32_t i = 0; i < 299; ++i) file->Drop(at[(i * stride) % 299]);
      EXPECT_LE(file->BytesOnDisk(), size + 3 * 4096) << size << " " << stride;
      EXPECT_EQ(*file->Take(at[299]), Noise(299, size));
    }
  }
}

TEST(SpillSpaceTest, ItsLimitAndAFullDiskAreErrors) {
  SpillSpace small(kFolder, 100);
  auto file = *small.Open();
  ASSERT_TRUE(file->Append("x").ok());
  std::string noise;
  for (uint32_t i = 0; i < 1000; ++i) noise.push_back(static_cast<char>(i * i * 2654435761u >> 13));
  const auto refused = file->Append(noise);
  EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(refused.status())->setting, "spill-mb");
  SpillSpace full(kFolder, UINT64_MAX, /*reserve_bytes=*/UINT64_MAX / 2);
  const auto none = (*full.Open())->Append("x");
  EXPECT_EQ(none.status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(none.status())->setting, "spill-dir");
  EXPECT_EQ(full.used(), 0u);
  SpillSpace failing(kFolder);
  failing.FailFromWrite(2);
  auto other = *failing.Open();
  EXPECT_TRUE(other->Append("x").ok());
  EXPECT_EQ(other->Append("x").status().code(), StatusCode::kResourceExhausted);
}

TEST(SpillSpaceTest, AQueryTakesHalfAtMost) {
  std::string noise;
  for (uint32_t i = 0; i < 1000; ++i) noise.push_back(static_cast<char>(i * i * 2654435761u >> 13));
  SpillSpace space(kFolder, 5000);
  std::atomic<uint64_t> one = 0, other = 0;
  auto file = *space.Open(&one);
  auto second = *space.Open(&one);
  const uint64_t at = *file->Append(noise);
  ASSERT_TRUE(second->Append(noise).ok());
  EXPECT_EQ(one, space.used());
  const auto refused = second->Append(noise);
  EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(refused.status())->setting, "spill-mb");
  EXPECT_EQ(DetailOf(refused.status())->limit, "2500 bytes");
  auto others = *space.Open(&other);
  EXPECT_TRUE(others->Append(noise).ok());
  EXPECT_FALSE(space.is_ample());
  EXPECT_TRUE(space.CanWrite());
  EXPECT_FALSE(SpillSpace("/nowhere/at/all").CanWrite());
  EXPECT_FALSE(SpillSpace("/tmp", UINT64_MAX, /*reserve_bytes=*/uint64_t{1} << 60).CanWrite());
  file->Drop(at);
  EXPECT_TRUE(second->Append(noise).ok());
  second.reset();
  EXPECT_EQ(one, 0u);
  EXPECT_EQ(other, space.used());
  EXPECT_TRUE(space.is_ample());
}

TEST(SpillSpaceTest, WhatAKilledProcessLeftIsSwept) {
  namespace fs = std::filesystem;
  const storage::TempFolder folder;
  const auto make = [&](const std::string& name, bool old) {
    fs::path path = fs::path(folder / name);
    std::ofstream(path) << "rows";
    if (old) {
      fs::last_write_time(path, fs::file_time_type::clock::now() - 2 * SpillSpace::kLeftBehind);
    }
    return path;
  };
  const fs::path left = make("koios-spill-a1b2c3", true), young = make("koios-spill-d4e5f6", false),
                 other = make("graph.csv", true);
  SpillSpace(folder / "").Sweep();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_TRUE(fs::exists(other));
  SpillSpace("/nowhere").Sweep();
}

TEST(SpillSpaceTest, WhatIsNotThereIsAnError) {
  SpillSpace nowhere("/tmp/there/is/no/such/folder");
  EXPECT_FALSE(nowhere.Open().ok());
  SpillSpace space(kFolder);
  auto file = *space.Open();
  EXPECT_EQ(file->Take(0).status().code(), StatusCode::kDataLoss);
  ASSERT_TRUE(file->Append("abc").ok());
  EXPECT_EQ(file->Take(5).status().code(), StatusCode::kDataLoss);
}

// Also of what a block says of itself: nothing is made as large as that before it is checked.
TEST(SpillSpaceTest, EachByteThatIsAnotherIsFound) {
  SpillSpace space(kFolder);
  const storage::TempFolder folder;
  const int fd = ::open((folder / "blocks").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  SpillFile file(&space, fd, nullptr);
  const std::string text = "a few words, a few words";
  const uint64_t at = *file.Append(text);
  ASSERT_EQ(*file.Read(at), text);
  for (uint64_t byte = 0; byte < file.end(); ++byte) {
    char was = 0;
    ASSERT_EQ(::pread(fd, &was, 1, static_cast<off_t>(byte)), 1);
    for (const int flipped : {0x01, 0x80}) {
      const char is = static_cast<char>(was ^ flipped);
      ASSERT_EQ(::pwrite(fd, &is, 1, static_cast<off_t>(byte)), 1);
      EXPECT_EQ(file.Read(at).status().code(), StatusCode::kDataLoss) << byte;
    }
    ASSERT_EQ(::pwrite(fd, &was, 1, static_cast<off_t>(byte)), 1);
  }
  EXPECT_EQ(*file.Take(at), text);
}

TEST(SpillSpaceTest, ADamagedDiskAndOneThatCannotBeWrittenAreErrors) {
  SpillSpace space(kFolder);
  space.FailFromRead(2);
  auto file = *space.Open();
  const uint64_t at = *file->Append("x");
  EXPECT_TRUE(file->Read(at).ok());
  EXPECT_EQ(file->Read(at).status().code(), StatusCode::kDataLoss);
  SpillFile read_only(&space, ::open("/dev/null", O_RDONLY | O_CLOEXEC), nullptr);
  const auto refused = read_only.Append("x");
  EXPECT_EQ(DetailOf(refused.status())->setting, "spill-dir");
  EXPECT_EQ(MessageOf(refused.status()).find("There is no room"), std::string::npos);
}

}  // namespace
}  // namespace koios::engine
