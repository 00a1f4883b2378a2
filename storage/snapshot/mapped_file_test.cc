// Damage: whatever byte of a file is changed, wherever it is cut, also while it is mapped, reading
// all of it gives DATA_LOSS or the right answer.
#include "storage/snapshot/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

#include "core/testing/rounds.h"
#include "storage/snapshot/snapshot_check.h"
#include "storage/snapshot/testing/model_comparison.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

class SnapshotDamageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ModelShape shape;
    shape.num_partitions = 1;
    shape.vertices = 40;
    shape.edges = 60;
    model_ = MakeModel(4, shape);
    options_.folder = folder_.path();
    built_ = BuildModel(model_, options_).value();
  }
  std::string path() const { return SnapshotPathIn(folder_.path(), 0, 1); }
  // Changes the byte there; twice: back again.
  void Flip(uint64_t offset) {
    std::FILE* const file = std::fopen(path().c_str(), "r+b");
    std::fseek(file, static_cast<long>(offset), SEEK_SET);
    const int byte = std::fgetc(file);
    std::fseek(file, static_cast<long>(offset), SEEK_SET);
    std::fputc(byte ^ (1 << (offset % 8)), file);
    std::fclose(file);
  }
  auto Open() { return PartitionSnapshot::Open(folder_.path(), 0, built_.file); }
  // DATA_LOSS, or all as it was.
  Status ReadAll(std::shared_ptr<const PartitionSnapshot> snapshot) {
    ModelComparison comparison(model_, {std::move(snapshot)});
    Status status = comparison.Run();
    EXPECT_EQ(status.ok() ? comparison.difference() : "", "");
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kDataLoss) << status;
    return status;
  }

  TempFolder folder_;
  SnapshotModel model_;
  SnapshotBuildOptions options_;
  BuiltSnapshot built_;
};

TEST_F(SnapshotDamageTest, AnyByte) {
  const uint64_t bytes = std::filesystem::file_size(path());
  Rng rng(1);
  uint64_t seen = 0, damaged = 0;
  // Every byte would take long under a sanitizer.
  for (uint64_t offset = 0; offset < bytes; offset += 1 + rng.Uniform(TestRounds(100, 300))) {
    Flip(offset);
    const auto opened = Open();
    const Status status = opened.ok() ? ReadAll(*opened) : opened.status();
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kDataLoss) << status;
    if (opened.ok() && status.ok()) {
      // Between sections, or in one that no accessor reads.
      uint64_t problems = 0;
      EXPECT_TRUE(CheckSnapshot(**opened, [&](const std::string&) { ++problems; }).ok());
    }
    ++seen;
    if (!status.ok()) ++damaged;
    Flip(offset);
  }
  EXPECT_GT(damaged, seen / 2);
  EXPECT_TRUE(ReadAll(Open().value()).ok());
}

TEST_F(SnapshotDamageTest, CutAnywhere) {
  const uint64_t bytes = std::filesystem::file_size(path());
  for (uint64_t left = 0; left < bytes; left += 4096) {
    std::filesystem::resize_file(path(), left);
    EXPECT_EQ(Open().status().code(), StatusCode::kDataLoss);
    // Also when it has its length again.
    std::filesystem::resize_file(path(), bytes);
    const auto opened = Open();
    EXPECT_EQ((opened.ok() ? ReadAll(*opened) : opened.status()).code(), StatusCode::kDataLoss);
    built_ = BuildModel(model_, options_).value();
  }
}

TEST_F(SnapshotDamageTest, CutWhileItIsMapped) {
  for (const uint64_t pages : {0, 1, 2, 5}) {
    const auto snapshot = Open().value();
    std::filesystem::resize_file(path(), pages * 4096);
    EXPECT_EQ(ReadAll(snapshot).code(), StatusCode::kDataLoss);
    EXPECT_EQ(snapshot->Damage().code(), StatusCode::kDataLoss);
    built_ = BuildModel(model_, options_).value();
  }
  EXPECT_TRUE(ReadAll(Open().value()).ok());
}

// All was read and found good; then it goes. Spans give zeros, and Damage says so.
TEST_F(SnapshotDamageTest, CutAfterItWasChecked) {
  const auto snapshot = Open().value();
  ASSERT_TRUE(ReadAll(snapshot).ok());
  const SnapshotAdjacency* const lists = snapshot->FindAdjacency(0, Direction::kOut, 13);
  ASSERT_NE(lists, nullptr);
  std::filesystem::resize_file(path(), 0);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < lists->num_positions(); ++i) sum += lists->NeighbourAt(i).bits;
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(snapshot->Damage().code(), StatusCode::kDataLoss);
  EXPECT_EQ(ReadAll(snapshot).code(), StatusCode::kDataLoss);
}

TEST(SigbusGuardDeathTest, FaultsElsewhereEndTheProcess) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  TempFolder folder;
  const std::string path = folder / "file";
  std::FILE* const file = std::fopen(path.c_str(), "w+b");
  std::fputs("x", file);
  std::fflush(file);
  auto* const bytes = static_cast<const volatile char*>(
      mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fileno(file), 0));
  {
    const SigbusGuard guard(const_cast<const char*>(bytes), 8192);
    EXPECT_EQ(bytes[4096], 0);
    EXPECT_TRUE(guard.damaged());
  }
  auto* const again = static_cast<const volatile char*>(
      mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fileno(file), 0));
  EXPECT_DEATH({ std::printf("%d", again[4096]); }, "");
  std::fclose(file);
}

}  // namespace
}  // namespace koios::storage
