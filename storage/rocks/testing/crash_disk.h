// CrashDisk: a StoreDisk that counts everything a store writes below one folder, RocksDB's files
// and those of snapshots and loads alike: what creates, fills, syncs, renames or removes a file,
// and syncs of folders. At one of these points it takes images of what a crash there would leave;
// from then on all that would write fails. A call is a point before it is made (of an append: when
// half of it is), and one that syncs is another behind it, as what is written past the disk (the
// mark) follows syncs. Thread-safe; writes are made one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/mutex.h"
#include "storage/rocks/disk/store_disk.h"
#include "storage/rocks/testing/written_files.h"

namespace koios::storage::testing {

class CrashDisk final : public SnapshotDisk {
 public:
  static constexpr uint64_t kNever = ~uint64_t{0};

  // Crashes at the point `at`, and takes these images. The folders are WrittenFiles'.
  CrashDisk(std::string folder, std::string aside, uint64_t at, std::vector<Remains> images)
      : at_(at), images_(std::move(images)), files_(std::move(folder), std::move(aside)) {}

  // For a store's options. `disk` is kept by what is given.
  static std::shared_ptr<const StoreDisk> For(const std::shared_ptr<CrashDisk>& disk);

  uint64_t points() const {
    MutexLock lock(&mutex_);
    return points_;
  }
  bool crashed() const {
    MutexLock lock(&mutex_);
    return crashed_;
  }
  // The call at which it crashed.
  std::string where() const {
    MutexLock lock(&mutex_);
    return where_;
  }
  // Called before each call for a file of a snapshot or a load, by the thread that makes it.
  void SetBeside(std::function<void()> beside) { beside_ = std::move(beside); }

  // One call that writes.
  struct Call {
    std::string what;
    bool syncs = false;
    std::function<void()> half = nullptr;  // a part of it
  };
  template <typename Result>
  Result Write(const Call& call, const std::function<Result(WrittenFiles* files)>& make,
               const Result& crashed) {
    MutexLock lock(&mutex_);
    if (IsPoint(call)) {
      if (call.half) call.half();
      Crash();
    }
    if (crashed_) return crashed;
    Result result = make(&files_);
    if (call.syncs && result.ok() && IsPoint(call)) Crash();
    return crashed_ ? crashed : result;
  }
  // One for a file of a snapshot or a load.
  Status WriteFile(const Call& call, const std::function<Status(WrittenFiles* files)>& make) {
    if (beside_) beside_();
    return Write<Status>(call, make, Unavailable("crashed"));
  }

  StatusOr<std::unique_ptr<SnapshotOutput>> Create(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override {
    return WriteFile({"rename " + to, true}, [&](WrittenFiles* files) {
      RETURN_IF_ERROR(Real()->Rename(from, to));
      files->Linked(from, to);
      files->Removed(from);
      files->SyncedFolder(WrittenFiles::FolderOf(to));
      return OkStatus();
    });
  }
  Status Remove(const std::string& path) override {
    return WriteFile({"remove " + path}, [&](WrittenFiles* files) {
      RETURN_IF_ERROR(Real()->Remove(path));
      files->Removed(path);
      return OkStatus();
    });
  }

 private:
  bool IsPoint(const Call& call) KOIOS_REQUIRES(mutex_) {
    if (crashed_ || points_++ != at_) return false;
    where_ = call.what;
    return true;
  }
  void Crash() KOIOS_REQUIRES(mutex_) {
    crashed_ = true;
    for (const Remains remains : images_) files_.TakeImage(remains);
  }

  const uint64_t at_;
  const std::vector<Remains> images_;
  std::function<void()> beside_;
  mutable Mutex mutex_;
  WrittenFiles files_ KOIOS_GUARDED_BY(mutex_);
  uint64_t points_ KOIOS_GUARDED_BY(mutex_) = 0;
  bool crashed_ KOIOS_GUARDED_BY(mutex_) = false;
  std::string where_ KOIOS_GUARDED_BY(mutex_);
};

// A file of a snapshot or a load: nothing of it is synced before its end.
class CrashOutput final : public SnapshotOutput {
 public:
  CrashOutput(CrashDisk* disk, std::string path, std::shared_ptr<WrittenFiles::Node> node,
              std::unique_ptr<SnapshotOutput> below)
      : disk_(disk), path_(std::move(path)), node_(std::move(node)), below_(std::move(below)) {}

  Status Reserve(uint64_t bytes) override {
    return disk_->WriteFile({"reserve " + path_},
                            [&](WrittenFiles*) { return below_->Reserve(bytes); });
  }
  Status Write(uint64_t offset, std::string_view bytes) override {
    const auto half = [&] {
      below_->Write(offset, bytes.substr(0, bytes.size() / 2)).IgnoreError();
    };
    return disk_->WriteFile({"write " + path_, false, half},
                            [&](WrittenFiles*) { return below_->Write(offset, bytes); });
  }
  Status Finish(uint64_t bytes) override {
    return disk_->WriteFile({"finish " + path_, true}, [&](WrittenFiles*) {
      RETURN_IF_ERROR(below_->Finish(bytes));
      node_->synced = bytes;
      return OkStatus();
    });
  }

 private:
  CrashDisk* const disk_;
  const std::string path_;
  const std::shared_ptr<WrittenFiles::Node> node_;
  const std::unique_ptr<SnapshotOutput> below_;
};

inline StatusOr<std::unique_ptr<SnapshotOutput>> CrashDisk::Create(const std::string& path) {
  std::unique_ptr<SnapshotOutput> created;
  const auto create = [&](WrittenFiles* files) -> Status {
    // In the place of one that is there, whose bytes may still be on disk.
    RETURN_IF_ERROR(Real()->Remove(path));
    ASSIGN_OR_RETURN(auto below, Real()->Create(path));
    created = std::make_unique<CrashOutput>(this, path, files->Created(path), std::move(below));
    return OkStatus();
  };
  RETURN_IF_ERROR(WriteFile({"create " + path}, create));
  return created;
}

}  // namespace koios::storage::testing
