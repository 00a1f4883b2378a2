// CrashFileSystem: RocksDB's files on a CrashDisk. What it says is synced is not, which would take
// most of the time of a test: the images are what it would be.
#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "storage/rocks/testing/crash_disk.h"

namespace koios::storage::testing {

// RocksDB appends and syncs one call at a time.
class CrashFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using Slice = rocksdb::Slice;
  using IOStatus = rocksdb::IOStatus;
  using IOOptions = rocksdb::IOOptions;
  using Verification = rocksdb::DataVerificationInfo;
  using Debug = rocksdb::IODebugContext;
  using Below = rocksdb::FSWritableFileOwnerWrapper;

  CrashFile(std::shared_ptr<CrashDisk> disk, std::string path,
            std::shared_ptr<WrittenFiles::Node> node, uint64_t bytes,
            std::unique_ptr<rocksdb::FSWritableFile> below)
      : Below(std::move(below)),
        disk_(std::move(disk)),
        path_(std::move(path)),
        node_(std::move(node)),
        bytes_(bytes) {}

  IOStatus Append(const Slice& data, const IOOptions& options, Debug* debug) override {
    return AppendWith(data, options, debug,
                      [&](WrittenFiles*) { return Below::Append(data, options, debug); });
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const Verification& info,
                  Debug* debug) override {
    return AppendWith(data, options, debug,
                      [&](WrittenFiles*) { return Below::Append(data, options, info, debug); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            Debug* debug) override {
    return AppendAt(data, offset, [&](WrittenFiles*) {
      return Below::PositionedAppend(data, offset, options, debug);
    });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const Verification& info, Debug* debug) override {
    return AppendAt(data, offset, [&](WrittenFiles*) {
      return Below::PositionedAppend(data, offset, options, info, debug);
    });
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, Debug* debug) override {
    return Write({"truncate " + path_}, [&](WrittenFiles*) {
      IOStatus status = Below::Truncate(size, options, debug);
      if (status.ok()) bytes_ = size;
      node_->synced = std::min(node_->synced, size);
      return status;
    });
  }
  IOStatus Sync(const IOOptions&, Debug*) override { return Synced(); }
  IOStatus Fsync(const IOOptions&, Debug*) override { return Synced(); }
  // The beginning of a write: nothing is promised.
  IOStatus RangeSync(uint64_t offset, uint64_t size, const IOOptions& options,
                     Debug* debug) override {
    return Write({"range sync " + path_},
                 [&](WrittenFiles*) { return Below::RangeSync(offset, size, options, debug); });
  }
  IOStatus Close(const IOOptions& options, Debug* debug) override {
    IOStatus closed =
        Write({"close " + path_}, [&](WrittenFiles*) { return Below::Close(options, debug); });
    // The file is closed in any case.
    if (!closed.ok()) Below::Close(options, debug).PermitUncheckedError();
    return closed;
  }

 private:
  using Make = std::function<IOStatus(WrittenFiles*)>;
  IOStatus Write(const CrashDisk::Call& call, const Make& make) {
    return disk_->Write<IOStatus>(call, make, IOStatus::IOError("crashed"));
  }
  IOStatus AppendWith(const Slice& data, const IOOptions& options, Debug* debug, const Make& make) {
    const auto half = [&] {
      Below::Append(Slice(data.data(), data.size() / 2), options, debug).PermitUncheckedError();
    };
    return Write({"append " + path_, false, half}, [&](WrittenFiles* files) {
      IOStatus status = make(files);
      if (status.ok()) bytes_ += data.size();
      return status;
    });
  }
  IOStatus AppendAt(const Slice& data, uint64_t offset, const Make& make) {
    return Write({"append " + path_}, [&](WrittenFiles* files) {
      IOStatus status = make(files);
      if (status.ok()) bytes_ = std::max<uint64_t>(bytes_, offset + data.size());
      return status;
    });
  }
  IOStatus Synced() {
    return Write({"sync " + path_, true}, [&](WrittenFiles*) {
      node_->synced = bytes_;
      return IOStatus::OK();
    });
  }

  const std::shared_ptr<CrashDisk> disk_;
  const std::string path_;
  const std::shared_ptr<WrittenFiles::Node> node_;
  uint64_t bytes_;
};

class CrashFolder final : public rocksdb::FSDirectoryWrapper {
 public:
  using IOStatus = rocksdb::IOStatus;
  using IOOptions = rocksdb::IOOptions;
  using Debug = rocksdb::IODebugContext;

  CrashFolder(std::shared_ptr<CrashDisk> disk, std::string path,
              std::unique_ptr<rocksdb::FSDirectory> below)
      : FSDirectoryWrapper(std::move(below)), disk_(std::move(disk)), path_(std::move(path)) {}

  IOStatus Fsync(const IOOptions&, Debug*) override { return Synced(); }
  IOStatus FsyncWithDirOptions(const IOOptions&, Debug*, const rocksdb::DirFsyncOptions&) override {
    return Synced();
  }

 private:
  IOStatus Synced() {
    return disk_->Write<IOStatus>(
        {"sync folder " + path_, true},
        [&](WrittenFiles* files) {
          files->SyncedFolder(path_);
          return IOStatus::OK();
        },
        IOStatus::IOError("crashed"));
  }

  const std::shared_ptr<CrashDisk> disk_;
  const std::string path_;
};

class CrashFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  using IOStatus = rocksdb::IOStatus;
  using IOOptions = rocksdb::IOOptions;
  using FileOptions = rocksdb::FileOptions;
  using Debug = rocksdb::IODebugContext;
  using File = std::unique_ptr<rocksdb::FSWritableFile>;

  explicit CrashFileSystem(std::shared_ptr<CrashDisk> disk)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), disk_(std::move(disk)) {}
  const char* Name() const override { return "CrashFileSystem"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options, File* file,
                           Debug* debug) override {
    return Write({"create " + path}, [&](WrittenFiles* files) {
      // In the place of one that is there, whose bytes may still be on disk.
      if (PathExists(path)) target()->DeleteFile(path, {}, debug).PermitUncheckedError();
      IOStatus status = target()->NewWritableFile(path, options, file, debug);
      if (!status.ok()) return status;
      Wrap(path, files->Created(Plain(path)), 0, file);
      return status;
    });
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options, File* file,
                              Debug* debug) override {
    return Write({"reopen " + path}, [&](WrittenFiles* files) {
      IOStatus status = target()->ReopenWritableFile(path, options, file, debug);
      if (!status.ok()) return status;
      Wrap(path, files->NodeOf(Plain(path)), std::filesystem::file_size(path), file);
      return status;
    });
  }
  // Neither is used by a store.
  IOStatus ReuseWritableFile(const std::string&, const std::string&, const FileOptions&, File*,
                             Debug*) override {
    return IOStatus::NotSupported("ReuseWritableFile");
  }
  IOStatus NewRandomRWFile(const std::string&, const FileOptions&,
                           std::unique_ptr<rocksdb::FSRandomRWFile>*, Debug*) override {
    return IOStatus::NotSupported("NewRandomRWFile");
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* folder, Debug* debug) override {
    IOStatus status = target()->NewDirectory(path, options, folder, debug);
    if (status.ok()) {
      *folder = std::make_unique<CrashFolder>(disk_, Plain(path), std::move(*folder));
    }
    return status;
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options, Debug* debug) override {
    return Write({"delete " + path}, [&](WrittenFiles* files) {
      if (path.ends_with(".log")) files->RemovesLog(Plain(path));
      IOStatus status = target()->DeleteFile(path, options, debug);
      if (status.ok()) files->Removed(Plain(path));
      return status;
    });
  }
  IOStatus Truncate(const std::string& path, size_t size, const IOOptions& options,
                    Debug* debug) override {
    return Write({"truncate " + path}, [&](WrittenFiles* files) {
      const auto node = files->NodeOf(Plain(path));
      node->synced = std::min<uint64_t>(node->synced, size);
      return target()->Truncate(path, size, options, debug);
    });
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      Debug* debug) override {
    return Write({"rename " + to}, [&](WrittenFiles* files) {
      IOStatus status = target()->RenameFile(from, to, options, debug);
      if (!status.ok()) return status;
      files->Linked(Plain(from), Plain(to));
      files->Removed(Plain(from));
      return status;
    });
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    Debug* debug) override {
    return Write({"link " + to}, [&](WrittenFiles* files) {
      IOStatus status = target()->LinkFile(from, to, options, debug);
      if (status.ok()) files->Linked(Plain(from), Plain(to));
      return status;
    });
  }

 private:
  static std::string Plain(const std::string& path) {
    std::string plain = std::filesystem::path(path).lexically_normal().string();
    if (plain.ends_with('/')) plain.pop_back();
    return plain;
  }
  IOStatus Write(const CrashDisk::Call& call, const std::function<IOStatus(WrittenFiles*)>& make) {
    return disk_->Write<IOStatus>(call, make, IOStatus::IOError("crashed"));
  }
  void Wrap(const std::string& path, std::shared_ptr<WrittenFiles::Node> node, uint64_t bytes,
            File* file) {
    *file =
        std::make_unique<CrashFile>(disk_, Plain(path), std::move(node), bytes, std::move(*file));
  }

  const std::shared_ptr<CrashDisk> disk_;
};

inline std::shared_ptr<const StoreDisk> CrashDisk::For(const std::shared_ptr<CrashDisk>& disk) {
  return std::make_shared<const StoreDisk>(
      StoreDisk{.database = std::make_shared<CrashFileSystem>(disk), .files = disk.get()});
}

}  // namespace koios::storage::testing
