// Imports that run in a process of their own, which is this binary again, at GraphImportChild.
// Killed at a random moment, the graph must be what it was before, or, when the import was done by
// then, all of the new one (KOIOS_KILL_ROUNDS sets how often, 5). And the memory of a process that
// imports more than its --memory is measured.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/testing/rounds.h"
#include "import/graph_import.h"
#include "storage/temp_folder.h"

namespace koios::import {
namespace {

constexpr int kVertices = 3000, kEdges = 20'000;

storage::DataFolderOptions FolderOptions() {
  storage::DataFolderOptions options;
  options.create = true;
  options.store.num_partitions = 4;
  return options;
}

void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

void WriteNewGraph(const storage::TempFolder& temp) {
  std::string vertices = "~id,~label\n", edges = "~from,~to,~label\n";
  for (int i = 0; i < kVertices; ++i) vertices += std::to_string(i) + ",new\n";
  for (int i = 0; i < kEdges; ++i) {
    edges += std::to_string(i * 7 % kVertices) + "," + std::to_string(i * 31 % kVertices) + ",e\n";
  }
  WriteText(temp / "v.csv", vertices);
  WriteText(temp / "e.csv", edges);
}

int ImportInto(const std::string& data, WhenGraphExists when, const ImportOptions& options) {
  auto folder = storage::DataFolder::Open(data, FolderOptions());
  if (!folder.ok()) return 10;
  return ImportGraph(folder->get(), "g", when, options).ok() ? 0 : 11;
}

// 1: the old graph, 2: old and new, 3: the new one, else what is wrong.
int Classify(const std::string& data) {
  auto folder = storage::DataFolder::Open(data, FolderOptions());
  if (!folder.ok()) return 20;
  auto store = (*folder)->OpenGraph("g");
  if (!store.ok()) return 21;
  const auto view = (*store)->View();
  uint64_t vertices = 0, edges = 0;
  for (uint32_t p = 0; p < view->num_partitions(); ++p) {
    storage::ScanCursor scan;
    storage::ExpandCursor expand;
    std::vector<VertexRef> found;
    std::vector<EdgeRef> ends;
    if (!view->ScanVertices(p, {}, &scan, 1'000'000, &found).ok()) return 22;
    if (!view->ScanEdges(p, {}, &expand, 1'000'000, &ends).ok()) return 23;
    vertices += found.size();
    edges += ends.size();
  }
  if (vertices == 6 && edges == 6) return 1;
  if (vertices == 6 + kVertices - 6 && edges == 6 + kEdges) return 2;
  if (vertices == kVertices && edges == kEdges) return 3;
  return 24;
}

// Runs this binary again with its work in the environment; kills it after some time if asked to.
// The exit code of the work, -1 when it was killed.
int RunChild(const std::string& work, const storage::TempFolder& temp, int64_t kill_after_micros,
             uint64_t* peak_bytes = nullptr) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("KOIOS_CHILD_WORK", work.c_str(), 1);
    setenv("KOIOS_CHILD_FOLDER", temp.path().c_str(), 1);
    freopen("/dev/null", "w", stdout);
    execl("/proc/self/exe", "child", "--gtest_filter=GraphImportChild.DISABLED_Run",
          "--gtest_also_run_disabled_tests", nullptr);
    _exit(127);
  }
  if (kill_after_micros >= 0) {
    usleep(static_cast<useconds_t>(kill_after_micros));
    kill(child, SIGKILL);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  if (peak_bytes != nullptr) *peak_bytes = static_cast<uint64_t>(usage.ru_maxrss) << 10;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(GraphImportChild, DISABLED_Run) {
  const char* work_text = std::getenv("KOIOS_CHILD_WORK");
  const char* folder = std::getenv("KOIOS_CHILD_FOLDER");
  if (work_text == nullptr || folder == nullptr) GTEST_SKIP() << "only as a child";
  const std::string work = work_text;
  const std::string temp = folder;
  const std::string data = temp + "/data";
  ImportOptions options;
  options.memory_bytes = kMinMemoryBytes;
  options.threads = 2;
  if (work == "classify") _exit(Classify(data));
  if (work == "old") {
    options.nodes = {"tests/data/modern-vertices.csv"};
    options.edges = {"tests/data/modern-edges.csv"};
    _exit(ImportInto(data, WhenGraphExists::kRefuse, options));
  }
  options.nodes = {temp + "/v.csv"};
  options.edges = {temp + "/e.csv"};
  options.bad_tolerance = -1;  // appending: the ids 1 to 6 exist
  const auto when = work == "append" ? WhenGraphExists::kAppend : WhenGraphExists::kReplace;
  _exit(ImportInto(data, when, options));
}

void KillLoop(const std::string& work, int finished, uint64_t seed) {
  Rng rng(seed);
  const char* rounds_text = std::getenv("KOIOS_KILL_ROUNDS");
  const int rounds = rounds_text == nullptr ? 5 : std::atoi(rounds_text);
  for (int round = 0; round < rounds; ++round) {
    storage::TempFolder temp;
    WriteNewGraph(temp);
    ASSERT_EQ(RunChild("old", temp, -1), 0);
    constexpr uint64_t kLongestMicros = 900'000;
    const int64_t micros = static_cast<int64_t>(rng.Uniform(kLongestMicros));
    RunChild(work, temp, micros);
    const int state = RunChild("classify", temp, -1);
    EXPECT_TRUE(state == 1 || state == finished) << "killed after " << micros << " us: " << state;
    // The folder takes the load again as if nothing had been.
    if (state != 1) continue;
    ASSERT_EQ(RunChild(work, temp, -1), 0);
    EXPECT_EQ(RunChild("classify", temp, -1), finished);
  }
}

TEST(GraphImportKillTest, ReplaceIsAllOrNothing) { KillLoop("replace", 3, 1); }

TEST(GraphImportKillTest, AppendIsAllOrNothing) { KillLoop("append", 2, 2); }

// What an import needs beyond the code and RocksDB's own share is its --memory, whatever the input.
TEST(GraphImportMemoryTest, APeakOfTheMemoryForAnInputOfTwiceItsSize) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's memory would be measured";
  storage::TempFolder small, large;
  WriteText(small / "v.csv", "~id,~label\n1,new\n");
  WriteText(small / "e.csv", "~from,~to,~label\n1,1,e\n");
  std::string vertices = "~id,~label,text:string\n", edges = "~from,~to,~label,w:double\n";
  constexpr int64_t kMany = 50'000;
  for (int64_t i = 0; i < kMany; ++i) {
    vertices +=
        std::to_string(i) + ",new," + std::string(240, static_cast<char>('a' + i % 26)) + "\n";
    for (int64_t k = 1; k <= 6; ++k) {
      edges += std::to_string(i) + "," + std::to_string(i * 7919 * k % kMany) + ",e,0.25\n";
    }
  }
  ASSERT_GT(vertices.size() + edges.size(), 2 * kMinMemoryBytes);
  WriteText(large / "v.csv", vertices);
  WriteText(large / "e.csv", edges);
  uint64_t small_peak = 0, large_peak = 0;
  ASSERT_EQ(RunChild("replace", small, -1, &small_peak), 0);
  ASSERT_EQ(RunChild("replace", large, -1, &large_peak), 0);
  constexpr uint64_t kFilesInWriting = uint64_t{8} << 20;
  EXPECT_LT(large_peak - small_peak, kMinMemoryBytes + kFilesInWriting)
      << "small: " << small_peak << ", large: " << large_peak;
}

}  // namespace
}  // namespace koios::import
