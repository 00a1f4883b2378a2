#include "storage/snapshot/snapshot_disk.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "storage/disk/files.h"

namespace koios::storage {
namespace {

// Written back in steps, so that the sync at the end is short.
constexpr uint64_t kWriteBackBytes = uint64_t{8} << 20;

class RealOutput final : public SnapshotOutput {
 public:
  RealOutput(int file, std::string path) : file_(file), path_(std::move(path)) {}
  ~RealOutput() override { close(file_); }

  Status Reserve(uint64_t bytes) override {
    if (bytes == 0 || fallocate(file_, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0) {
      return OkStatus();
    }
    // Not every file system can; the writes will tell then.
    if (errno != ENOSPC && errno != EDQUOT) return OkStatus();
    return FileError("Can't reserve room for", path_, errno);
  }

  Status Write(uint64_t offset, std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return FileError("Can't write", path_, errno);
      bytes.remove_prefix(static_cast<size_t>(written));
      offset += static_cast<uint64_t>(written);
    }
    if (offset >= written_back_ + kWriteBackBytes) {
      sync_file_range(file_, static_cast<off_t>(written_back_),
                      static_cast<off_t>(offset - written_back_), SYNC_FILE_RANGE_WRITE);
      written_back_ = offset;
    }
    return OkStatus();
  }

  Status Finish(uint64_t bytes) override {
    if (ftruncate(file_, static_cast<off_t>(bytes)) != 0) {
      return FileError("Can't write", path_, errno);
    }
    if (fdatasync(file_) != 0) return FileError("Can't sync", path_, errno);
    return OkStatus();
  }

 private:
  const int file_;
  const std::string path_;
  uint64_t written_back_ = 0;
};

class RealDisk final : public SnapshotDisk {
 public:
  StatusOr<std::unique_ptr<SnapshotOutput>> Create(const std::string& path) override {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return FileError("Can't create", path, errno);
    return std::unique_ptr<SnapshotOutput>(new RealOutput(file, path));
  }
  Status Rename(const std::string& from, const std::string& to) override {
    return RenameDurably(from, to);
  }
  Status Remove(const std::string& path) override { return RemovePath(path); }
};

}  // namespace

SnapshotDisk* SnapshotDisk::Real() {
  static RealDisk* const kDisk = new RealDisk();
  return kDisk;
}

}  // namespace koios::storage
