// Files as such: what is written is what is mapped, sections are taken over from older files, and a
// writer that fails or stops anywhere leaves what was there.
#include "storage/snapshot/snapshot_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "core/testing/rounds.h"
#include "storage/disk/files.h"
#include "storage/snapshot/mapped_file.h"
#include "storage/snapshot/testing/model_comparison.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

SnapshotHeader HeaderOf(uint64_t number) {
  SnapshotHeader header;
  header.number = number;
  header.version = 7;
  header.partition = 2;
  header.num_partitions = 4;
  return header;
}

std::string BytesOfSize(size_t bytes, char seed) {
  std::string out(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<char>(seed + i * 7 % 251);
  return out;
}

constexpr SectionName kHeapOf(uint32_t key) {
  return {SectionKind::kHeap, SectionIndex::kVertex, 0, 0, key};
}

TEST(SnapshotWriterTest, SectionsOfAllSizes) {
  TempFolder folder;
  auto writer = SnapshotWriter::Create(SnapshotDisk::Real(), folder.path(), HeaderOf(1), 0).value();
  const size_t sizes[] = {0,     1,     63,    64,    4095,   16383,   16384,
                          16385, 65535, 65536, 65537, 100000, 1048576, 2500000};
  for (uint32_t i = 0; i < std::size(sizes); ++i) {
    ASSERT_TRUE(writer->Write(kHeapOf(i + 1), 1, BytesOfSize(sizes[i], char(i)), sizes[i]).ok());
  }
  const auto name = writer->Finish({});
  ASSERT_TRUE(name.ok()) << name.status();
  const auto file = MappedFile::Open(folder.path(), 2, *name);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->header().version, 7);
  ASSERT_EQ((*file)->directory().size(), std::size(sizes));
  for (const SectionEntry& entry : (*file)->directory()) {
    const MappedSection section(*file, entry);
    EXPECT_EQ(entry.offset % (entry.bytes >= 65536 ? 4096 : 64), 0);
    EXPECT_TRUE(section.TouchAll().ok());
    EXPECT_TRUE(section.checked());
    EXPECT_EQ(section.bytes(), BytesOfSize(sizes[entry.key - 1], char(entry.key - 1)));
  }
}

TEST(SnapshotWriterTest, ABlockIsCheckedWhenItIsTouched) {
  TempFolder folder;
  auto writer = SnapshotWriter::Create(SnapshotDisk::Real(), folder.path(), HeaderOf(1), 0).value();
  ASSERT_TRUE(writer->Write(kHeapOf(1), 1, BytesOfSize(100'000, 'x'), 100'000).ok());
  const auto name = writer->Finish({}).value();
  const std::string path = SnapshotPathIn(folder.path(), 2, 1);
  auto file = MappedFile::Open(folder.path(), 2, name).value();
  const SectionEntry entry = file->directory()[0];
  // A byte of the fourth block.
  {
    std::FILE* const out = std::fopen(path.c_str(), "r+b");
    std::fseek(out, static_cast<long>(entry.offset + 50'000), SEEK_SET);
    std::fputc('!', out);
    std::fclose(out);
  }
  const MappedSection section(file, entry);
  EXPECT_TRUE(section.Touch(0, 49'152).ok());
  EXPECT_FALSE(section.checked());
  EXPECT_TRUE(file->Damage().ok());
  EXPECT_EQ(section.Touch(49'152, 1).code(), StatusCode::kDataLoss);
  EXPECT_EQ(file->Damage().code(), StatusCode::kDataLoss);
  EXPECT_EQ(section.Touch(100'000, 1).code(), StatusCode::kDataLoss);
}

// Pages of the file that are in memory.
uint64_t PagesInMemory(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const size_t bytes = std::filesystem::file_size(path);
  void* const data = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  std::vector<unsigned char> pages((bytes + 4095) / 4096);
  EXPECT_EQ(mincore(data, bytes, pages.data()), 0);
  munmap(data, bytes);
  close(file);
  return static_cast<uint64_t>(std::ranges::count_if(pages, [](auto page) { return page & 1; }));
}

// Graphs may be larger than memory: what lies around what is read stays on disk.
TEST(SnapshotWriterTest, FetchesWhatIsTouched) {
  TempFolder folder;
  constexpr uint64_t kBytes = 16 << 20;
  auto writer = SnapshotWriter::Create(SnapshotDisk::Real(), folder.path(), HeaderOf(1), 0).value();
  ASSERT_TRUE(writer->Write(kHeapOf(1), 1, BytesOfSize(kBytes, 'x'), kBytes).ok());
  const auto name = writer->Finish({}).value();
  const std::string path = SnapshotPathIn(folder.path(), 2, 1);
  const int forgotten = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(posix_fadvise(forgotten, 0, 0, POSIX_FADV_DONTNEED), 0);
  close(forgotten);
  if (PagesInMemory(path) > 0) GTEST_SKIP() << "the file system here keeps files in memory";

  const auto file = MappedFile::Open(folder.path(), 2, name).value();
  const MappedSection section(file, file->directory()[0]);
  for (uint64_t at = 0; at < kBytes; at += 1 << 20) ASSERT_TRUE(section.Touch(at, 1).ok());
  const uint64_t pages = PagesInMemory(path);
  EXPECT_GE(pages, 16);
  EXPECT_LT(pages * 4096, kBytes / 8);
  ASSERT_TRUE(section.TouchAll().ok());
  EXPECT_GE(PagesInMemory(path) * 4096, kBytes);
}

TEST(SnapshotWriterTest, OnlyTheFileThatIsNamed) {
  TempFolder folder;
  auto writer = SnapshotWriter::Create(SnapshotDisk::Real(), folder.path(), HeaderOf(1), 0).value();
  const auto name = writer->Finish({}).value();
  EXPECT_TRUE(MappedFile::Open(folder.path(), 2, name).ok());
  auto wrong = name;
  wrong.check ^= 1;
  EXPECT_EQ(MappedFile::Open(folder.path(), 2, wrong).status().code(), StatusCode::kDataLoss);
  wrong = name;
  wrong.bytes += 1;
  EXPECT_EQ(MappedFile::Open(folder.path(), 2, wrong).status().code(), StatusCode::kDataLoss);
  wrong = name;
  wrong.number = 2;
  EXPECT_EQ(MappedFile::Open(folder.path(), 2, wrong).status().code(), StatusCode::kDataLoss);
  std::filesystem::copy_file(SnapshotPathIn(folder.path(), 2, 1),
                             SnapshotPathIn(folder.path(), 3, 1));
  EXPECT_EQ(MappedFile::Open(folder.path(), 3, name).status().code(), StatusCode::kDataLoss);
}

TEST(SnapshotWriterTest, ANewerFormatIsRefused) {
  SnapshotHeader header = HeaderOf(1), decoded;
  header.format = kSnapshotFormat + 1;
  header.bytes = header.directory_offset = kSnapshotHeaderBytes;
  uint64_t check = 0, read = 0;
  const std::string page = EncodeSnapshotHeader(header, &check);
  EXPECT_EQ(DecodeSnapshotHeader(page, &decoded, &read).code(), StatusCode::kFailedPrecondition);
}

TEST(SnapshotWriterTest, NamesOfFiles) {
  uint32_t partition = 0;
  uint64_t number = 0;
  EXPECT_TRUE(ParseSnapshotFileName(SnapshotPathIn("", 7, 12).substr(1), &partition, &number));
  EXPECT_EQ(partition, 7);
  EXPECT_EQ(number, 12);
  for (const char* other : {"p0007-12.snap.tmp", "p-1.snap", "p1.snap", "x", "", "p1-.snap"}) {
    EXPECT_FALSE(ParseSnapshotFileName(other, &partition, &number)) << other;
  }
}

TEST(SnapshotWriterTest, NarrowReferencesKeepTheOrder) {
  for (const uint32_t partitions : {1u, 2u, 3u, 16u, 4096u}) {
    const NarrowRefs refs(partitions);
    std::vector<VertexRef> all;
    for (const uint32_t p : {0u, partitions / 2, partitions - 1}) {
      for (const uint64_t local : {0ull, 1ull, 1000ull}) all.push_back(VertexRef::Make(p, local));
    }
    std::sort(all.begin(), all.end());
    for (size_t i = 0; i < all.size(); ++i) {
      ASSERT_TRUE(refs.Fits(all[i]));
      EXPECT_EQ(refs.Widen(refs.Narrow(all[i])), all[i]);
      EXPECT_EQ(i > 0 && all[i - 1]<all[i], i> 0 && refs.Narrow(all[i - 1]) < refs.Narrow(all[i]));
    }
    EXPECT_FALSE(refs.Fits(VertexRef::Make(0, uint64_t{1} << 32)));
  }
}

// Takes a section from the file before, adds one; the reader finds both.
TEST(SnapshotWriterTest, AChainOfFiles) {
  TempFolder folder;
  const SnapshotModel model = MakeModel(8, {});
  SnapshotBuildOptions options;
  options.folder = folder.path();
  Snapshots snapshots = BuildAll(model, options);
  ASSERT_EQ(snapshots.size(), model.num_partitions);
  for (uint32_t p = 0; p < model.num_partitions; ++p) {
    SnapshotHeader header = snapshots[p]->header();
    SnapshotFileName before{header.number, header.bytes, 0};
    SnapshotHeader again;
    std::string page(snapshots[p]->sections().begin()->second->file().data(), kSnapshotHeaderBytes);
    ASSERT_TRUE(DecodeSnapshotHeader(page, &again, &before.check).ok());
    header.number = 2;
    header.num_older = 1;
    header.older[0] = before;
    auto writer = SnapshotWriter::Create(SnapshotDisk::Real(), folder.path(), header, 0).value();
    // Columns anew, the rest as it was.
    for (const auto& [name, section] : snapshots[p]->sections()) {
      if (name.kind >= SectionKind::kColumn) {
        ASSERT_TRUE(writer->Write(name, section->width(), section->bytes(), section->rows()).ok());
      } else {
        writer->Keep(section->entry(), 1);
      }
    }
    const auto name = writer->Finish(header);
    ASSERT_TRUE(name.ok()) << name.status();
    auto opened = PartitionSnapshot::Open(folder.path(), p, *name);
    ASSERT_TRUE(opened.ok()) << opened.status();
    snapshots[p] = *std::move(opened);
  }
  ModelComparison comparison(model, snapshots);
  ASSERT_TRUE(comparison.Run().ok());
  EXPECT_EQ(comparison.difference(), "");
  // One that is not the older file any more.
  ASSERT_TRUE(RemovePath(SnapshotPathIn(folder.path(), 0, 1)).ok());
  SnapshotFileName name{2, snapshots[0]->header().bytes, 0};
  SnapshotHeader header;
  std::string page;
  {
    std::FILE* const in = std::fopen(SnapshotPathIn(folder.path(), 0, 2).c_str(), "rb");
    page.resize(kSnapshotHeaderBytes);
    ASSERT_EQ(std::fread(page.data(), 1, page.size(), in), page.size());
    std::fclose(in);
  }
  ASSERT_TRUE(DecodeSnapshotHeader(page, &header, &name.check).ok());
  EXPECT_EQ(PartitionSnapshot::Open(folder.path(), 0, name).status().code(), StatusCode::kDataLoss);
}

// Fails from the n-th call on; `stopped`: as if the process had ended, nothing more is done.
class FailingDisk final : public SnapshotDisk {
 public:
  FailingDisk(int calls, bool stopped) : left_(calls), stopped_(stopped) {}
  bool failed() const { return failed_; }
  const std::vector<std::string>& calls() const { return calls_; }

  StatusOr<std::unique_ptr<SnapshotOutput>> Create(const std::string& path) override {
    RETURN_IF_ERROR(Call("create"));
    ASSIGN_OR_RETURN(auto output, Real()->Create(path));
    return std::unique_ptr<SnapshotOutput>(new Output(this, std::move(output)));
  }
  Status Rename(const std::string& from, const std::string& to) override {
    RETURN_IF_ERROR(Call("rename"));
    return Real()->Rename(from, to);
  }
  Status Remove(const std::string& path) override {
    if (failed_ && stopped_) return Unavailable("stopped");
    return Real()->Remove(path);
  }

 private:
  class Output final : public SnapshotOutput {
   public:
    Output(FailingDisk* disk, std::unique_ptr<SnapshotOutput> output)
        : disk_(disk), output_(std::move(output)) {}
    Status Reserve(uint64_t bytes) override {
      RETURN_IF_ERROR(disk_->Call("reserve"));
      return output_->Reserve(bytes);
    }
    Status Write(uint64_t offset, std::string_view bytes) override {
      const Status status = disk_->Call("write");
      // Half of it may be there.
      if (!status.ok()) output_->Write(offset, bytes.substr(0, bytes.size() / 2)).IgnoreError();
      RETURN_IF_ERROR(status);
      return output_->Write(offset, bytes);
    }
    Status Finish(uint64_t bytes) override {
      RETURN_IF_ERROR(disk_->Call("sync"));
      return output_->Finish(bytes);
    }

   private:
    FailingDisk* const disk_;
    const std::unique_ptr<SnapshotOutput> output_;
  };

  Status Call(const std::string& what) {
    calls_.push_back(what);
    if (left_-- > 0 && !failed_) return OkStatus();
    failed_ = true;
    return Unavailable("no");
  }

  int left_;
  const bool stopped_;
  bool failed_ = false;
  std::vector<std::string> calls_;
};

TEST(SnapshotWriterTest, FailsOrStopsAnywhere) {
  constexpr int kStep = TestRounds(1, 3);
  ModelShape shape;
  shape.num_partitions = 1;
  shape.vertices = 300;
  shape.edges = 2000;
  const SnapshotModel before = MakeModel(1, shape), after = MakeModel(2, shape);
  for (const bool stopped : {false, true}) {
    bool failed = true;
    for (int calls = 0; failed; calls += kStep) {
      ASSERT_LT(calls, 100);
      TempFolder folder;
      SnapshotBuildOptions options;
      options.folder = folder.path();
      const auto old = BuildModel(before, options);
      ASSERT_TRUE(old.ok());
      FailingDisk disk(calls, stopped);
      options.number = 2;
      options.disk = &disk;
      const auto built = BuildModel(after, options);
      failed = disk.failed();
      ASSERT_EQ(built.ok(), !failed);
      // What was named is as it was, and there is no file under the new name that is not whole.
      const auto opened = PartitionSnapshot::Open(folder.path(), 0, old->file);
      ASSERT_TRUE(opened.ok());
      ModelComparison same(before, {*opened});
      ASSERT_TRUE(same.Run().ok());
      EXPECT_EQ(same.difference(), "");
      EXPECT_EQ(PathExists(SnapshotPathIn(folder.path(), 0, 2)), built.ok());
      if (failed) {
        EXPECT_TRUE(stopped || ListFolder(folder.path())->size() == 1);
        continue;
      }
      // Synced before it is renamed, and the header is the last write.
      const std::vector<std::string>& all = disk.calls();
      EXPECT_GE(all.size(), 7);
      EXPECT_EQ(all[all.size() - 3], "write");
      EXPECT_EQ(all[all.size() - 2], "sync");
      EXPECT_EQ(all[all.size() - 1], "rename");
      const auto next = PartitionSnapshot::Open(folder.path(), 0, built->file);
      ASSERT_TRUE(next.ok());
      ModelComparison changed(after, {*next});
      ASSERT_TRUE(changed.Run().ok());
      EXPECT_EQ(changed.difference(), "");
    }
  }
}

}  // namespace
}  // namespace koios::storage
