#include "storage/rocks/disk/watched_files.h"

#include <rocksdb/file_system.h>

#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/log.h"
#include "core/mutex.h"
#include "storage/disk/files.h"

namespace koios::storage {
namespace {

using rocksdb::FileOptions;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

std::string_view NameOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
}

// The number between `prefix` and `suffix`.
std::optional<uint64_t> NumberIn(std::string_view name, std::string_view prefix,
                                 std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  if (name.size() <= prefix.size() + suffix.size()) return std::nullopt;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

std::optional<uint64_t> LogNumber(const std::string& path) {
  return NumberIn(NameOf(path), "", ".log");
}
std::optional<uint64_t> ManifestNumber(const std::string& path) {
  return NumberIn(NameOf(path), "MANIFEST-", "");
}

// What the mark needs to know of manifests: the newest that was begun, and which CURRENT names.
class Manifests {
 public:
  explicit Manifests(std::shared_ptr<HighWaterMark> mark) : mark_(std::move(mark)) {}

  void Synced(const MarkedFile& manifest) {
    MutexLock lock(&mutex_);
    synced_ = manifest;
    if (manifest.number == current_) Tell();
  }
  // CURRENT, on disk, names the manifest that was synced last.
  void MadeCurrent() {
    MutexLock lock(&mutex_);
    current_ = synced_.number;
    if (current_ != 0) Tell();
  }

 private:
  void Tell() KOIOS_REQUIRES(mutex_) {
    const Status told = mark_->SetManifest(synced_);
    if (!told.ok()) KLOG_WARNING("{}", MessageOf(told));
  }

  const std::shared_ptr<HighWaterMark> mark_;
  Mutex mutex_;
  MarkedFile synced_ KOIOS_GUARDED_BY(mutex_);
  uint64_t current_ KOIOS_GUARDED_BY(mutex_) = 0;
};

// What the mark needs to know of logs: how much of each is synced, once its name is, too.
class Logs {
 public:
  explicit Logs(std::shared_ptr<HighWaterMark> mark) : mark_(std::move(mark)) {}

  void Created(uint64_t number) {
    MutexLock lock(&mutex_);
    unnamed_[number] = {};
  }
  void Synced(const MarkedFile& log) {
    MutexLock lock(&mutex_);
    const auto unnamed = unnamed_.find(log.number);
    if (unnamed == unnamed_.end()) return mark_->NoteLog(log);
    unnamed->second = log;
  }
  Status Deleted(uint64_t number) {
    MutexLock lock(&mutex_);
    unnamed_.erase(number);
    return mark_->ForgetLog(number);
  }
  // Those that were there when a sync of their folder began have their names when it succeeded.
  std::set<uint64_t> Unnamed() const {
    MutexLock lock(&mutex_);
    std::set<uint64_t> numbers;
    for (const auto& [number, log] : unnamed_) numbers.insert(number);
    return numbers;
  }
  void Named(const std::set<uint64_t>& numbers) {
    MutexLock lock(&mutex_);
    for (const uint64_t number : numbers) {
      const auto unnamed = unnamed_.find(number);
      if (unnamed == unnamed_.end()) continue;
      if (unnamed->second.bytes > 0) mark_->NoteLog(unnamed->second);
      unnamed_.erase(unnamed);
    }
  }

 private:
  const std::shared_ptr<HighWaterMark> mark_;
  mutable Mutex mutex_;
  std::map<uint64_t, MarkedFile> unnamed_ KOIOS_GUARDED_BY(mutex_);  // bytes 0: nothing is synced
};

// A folder with logs in it.
class WatchedFolder final : public rocksdb::FSDirectoryWrapper {
 public:
  WatchedFolder(std::unique_ptr<rocksdb::FSDirectory> folder, std::shared_ptr<Logs> logs)
      : FSDirectoryWrapper(std::move(folder)), logs_(std::move(logs)) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    const std::set<uint64_t> unnamed = logs_->Unnamed();
    return Tell(unnamed, FSDirectoryWrapper::Fsync(options, debug));
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions& how) override {
    const std::set<uint64_t> unnamed = logs_->Unnamed();
    return Tell(unnamed, FSDirectoryWrapper::FsyncWithDirOptions(options, debug, how));
  }

 private:
  IOStatus Tell(const std::set<uint64_t>& unnamed, IOStatus status) {
    if (status.ok()) logs_->Named(unnamed);
    return status;
  }

  const std::shared_ptr<Logs> logs_;
};

// A manifest or a log that is being written. RocksDB appends and syncs it one call at a time.
class WatchedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using Synced = std::function<void(const MarkedFile&)>;
  WatchedFile(std::unique_ptr<FSWritableFile> file, uint64_t number, Synced synced)
      : FSWritableFileOwnerWrapper(std::move(file)), synced_(std::move(synced)) {
    so_far_.number = number;
  }

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    return Note(data, FSWritableFileOwnerWrapper::Append(data, options, debug));
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& info, IODebugContext* debug) override {
    return Note(data, FSWritableFileOwnerWrapper::Append(data, options, info, debug));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return Tell(FSWritableFileOwnerWrapper::Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Tell(FSWritableFileOwnerWrapper::Fsync(options, debug));
  }

 private:
  IOStatus Note(const Slice& data, IOStatus status) {
    if (!status.ok()) {
      // A part of it may be there: what was synced before is all that is known.
      broken_ = true;
    } else {
      so_far_.bytes += data.size();
      hash_.Add(std::string_view(data.data(), data.size()));
    }
    return status;
  }
  IOStatus Tell(IOStatus status) {
    if (status.ok() && !broken_ && so_far_.bytes > 0) {
      so_far_.hash = hash_.Value();
      synced_(so_far_);
    }
    return status;
  }

  const Synced synced_;
  MarkedFile so_far_;
  RunningHash hash_;
  bool broken_ = false;
};

class WatchedFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  WatchedFileSystem(const std::shared_ptr<rocksdb::FileSystem>& below,
                    std::shared_ptr<HighWaterMark> mark)
      : FileSystemWrapper(below),
        logs_(std::make_shared<Logs>(mark)),
        manifests_(std::make_shared<Manifests>(std::move(mark))) {}

  const char* Name() const override { return "WatchedFileSystem"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, debug);
    if (!status.ok()) return status;
    if (const auto log = LogNumber(path)) {
      logs_->Created(*log);
      *file = std::make_unique<WatchedFile>(
          std::move(*file), *log, [to = logs_](const MarkedFile& so_far) { to->Synced(so_far); });
    } else if (const auto manifest = ManifestNumber(path)) {
      *file = std::make_unique<WatchedFile>(
          std::move(*file), *manifest,
          [to = manifests_](const MarkedFile& so_far) { to->Synced(so_far); });
    }
    return status;
  }

  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* folder,
                        IODebugContext* debug) override {
    IOStatus status = FileSystemWrapper::NewDirectory(path, options, folder, debug);
    if (status.ok()) *folder = std::make_unique<WatchedFolder>(std::move(*folder), logs_);
    return status;
  }

  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    IOStatus status = FileSystemWrapper::RenameFile(from, to, options, debug);
    if (!status.ok() || NameOf(to) != "CURRENT") return status;
    // The mark must not know of it before the disk does.
    std::unique_ptr<rocksdb::FSDirectory> folder;
    status =
        NewDirectory(std::filesystem::path(to).parent_path().string(), options, &folder, debug);
    if (status.ok()) status = folder->Fsync(options, debug);
    if (status.ok()) manifests_->MadeCurrent();
    return status;
  }

  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* debug) override {
    if (const auto log = LogNumber(path)) {
      const Status forgotten = logs_->Deleted(*log);
      if (!forgotten.ok()) return IOStatus::IOError(MessageOf(forgotten));
    }
    return FileSystemWrapper::DeleteFile(path, options, debug);
  }

 private:
  const std::shared_ptr<Logs> logs_;
  const std::shared_ptr<Manifests> manifests_;
};

}  // namespace

std::unique_ptr<rocksdb::Env> NewWatchedEnv(std::shared_ptr<rocksdb::FileSystem> below,
                                            std::shared_ptr<HighWaterMark> mark) {
  return rocksdb::NewCompositeEnv(
      std::make_shared<WatchedFileSystem>(std::move(below), std::move(mark)));
}

}  // namespace koios::storage
