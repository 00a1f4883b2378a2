#include "server/guard/machine.h"

#include <filesystem>
#include <fstream>
#include <vector>

#include "gtest/gtest.h"

namespace koios::server {
namespace {

namespace fs = std::filesystem;

// A machine of files: 16 GiB, with control groups as the test says.
class MachineTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "koios-machine-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    Write("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 5 kB\n");
  }
  void TearDown() override { fs::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  uint64_t Megabytes() const { return MachineMemoryBytes(root_) >> 20; }

  std::string root_;
};

TEST_F(MachineTest, WithoutGroupsItIsTheMachines) { EXPECT_EQ(Megabytes(), 16384u); }

TEST_F(MachineTest, TheLeastLimitOnTheWayUpCounts) {
  Write("/proc/self/cgroup", "0::/service/koios\n");
  Write("/proc/self/mountinfo", "30 25 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
  Write("/sys/fs/cgroup/service/koios/memory.max", "max\n");
  EXPECT_EQ(Megabytes(), 16384u);
  Write("/sys/fs/cgroup/service/memory.max", "1073741824\n");
  EXPECT_EQ(Megabytes(), 1024u);
  Write("/sys/fs/cgroup/service/koios/memory.max", "536870912\n");
  EXPECT_EQ(Megabytes(), 512u);
}

TEST_F(MachineTest, VersionOneBesideVersionTwo) {
  Write("/proc/self/cgroup", "5:cpu:/\n4:memory:/box/koios\n0::/\n");
  Write("/proc/self/mountinfo",
        "40 39 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
        "41 39 0:31 / /sys/fs/cgroup/memory rw shared:3 - cgroup cgroup rw,memory\n"
        "42 39 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  Write("/sys/fs/cgroup/memory/box/koios/memory.limit_in_bytes", "268435456\n");
  EXPECT_EQ(Megabytes(), 256u);
}

// In a container the group's own folder is the mount.
TEST_F(MachineTest, AGroupThatIsMountedAsTheRoot) {
  Write("/proc/self/cgroup", "4:memory:/docker/abc\n");
  Write("/proc/self/mountinfo",
        "41 39 0:31 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "134217728\n");
  EXPECT_EQ(Megabytes(), 128u);
}

TEST_F(MachineTest, WhatCantBeReadIsNoLimit) {
  Write("/proc/self/cgroup", "nonsense\n4:memory:/x\n0::\n::\n");
  Write("/proc/self/mountinfo", "\n - \n1 2 3 - cgroup cgroup rw,memory\n");
  Write("/sys/fs/cgroup/memory.max", "-1\n");
  EXPECT_EQ(Megabytes(), 16384u);
}

TEST(ResidentTest, GrowsWithWhatIsTouched) {
  constexpr size_t kBytes = size_t{64} << 20;
  ReturnFreedMemory();  // what other tests left would be touched again, or go meanwhile
  const uint64_t before = PrivateResidentBytes();
  const std::vector<char> touched(kBytes, 'x');
  EXPECT_GE(PrivateResidentBytes() + (kBytes >> 2), before + kBytes);
  EXPECT_EQ(touched.back(), 'x');
}

TEST(OpenFileLimitTest, IsRaisedOnce) {
  const uint64_t limit = RaiseOpenFileLimit();
  EXPECT_GT(limit, 0u);
  EXPECT_EQ(RaiseOpenFileLimit(), limit);
}

}  // namespace
}  // namespace koios::server
