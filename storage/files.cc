#include "storage/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace koios::storage {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMaxSmallFile = 64 * 1024;

Status FileError(std::string_view doing, const std::string& path, int error) {
  const std::string message = std::string(doing) + " '" + path + "': " + std::strerror(error) + ".";
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return NotFound(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return FailedPrecondition(message);
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
      return ResourceExhausted(message, ErrorDetail{});
    default:
      return Unavailable(message);
  }
}

// Closes the file on all ways out.
class OpenFile {
 public:
  OpenFile(const std::string& path, int flags)
      : file_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~OpenFile() {
    if (file_ >= 0) close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int file() const { return file_; }
  int Release() { return std::exchange(file_, -1); }

 private:
  int file_;
};

Status WriteAll(int file, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError("Can't write", path, errno);
    content.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

}  // namespace

bool PathExists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

Status MakeFolder(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return OkStatus();
  fs::create_directories(path, error);
  if (error) return FileError("Can't create the folder", path, error.value());
  if (chmod(path.c_str(), 0700) != 0) return FileError("Can't protect", path, errno);
  const std::string parent = fs::path(path).parent_path().string();
  return SyncFolder(parent.empty() ? "." : parent);
}

Status WriteFileDurably(const std::string& path, std::string_view content) {
  const std::string aside = path + ".new";
  {
    OpenFile out(aside, O_WRONLY | O_CREAT | O_TRUNC);
    if (out.file() < 0) return FileError("Can't create", aside, errno);
    RETURN_IF_ERROR(WriteAll(out.file(), aside, content));
    if (fsync(out.file()) != 0) return FileError("Can't sync", aside, errno);
  }
  if (rename(aside.c_str(), path.c_str()) != 0) return FileError("Can't rename to", path, errno);
  const std::string parent = fs::path(path).parent_path().string();
  return SyncFolder(parent.empty() ? "." : parent);
}

StatusOr<std::string> ReadSmallFile(const std::string& path) {
  OpenFile in(path, O_RDONLY);
  if (in.file() < 0) return FileError("Can't open", path, errno);
  std::string content(kMaxSmallFile + 1, '\0');
  size_t size = 0;
  while (size < content.size()) {
    const ssize_t got = read(in.file(), content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError("Can't read", path, errno);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size > kMaxSmallFile) return DataLoss("The file '" + path + "' is too large for its kind.");
  content.resize(size);
  return content;
}

Status SyncFolder(const std::string& path) {
  OpenFile folder(path, O_RDONLY | O_DIRECTORY);
  if (folder.file() < 0) return FileError("Can't open the folder", path, errno);
  if (fsync(folder.file()) != 0) return FileError("Can't sync the folder", path, errno);
  return OkStatus();
}

Status RemovePath(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return FileError("Can't remove", path, error.value());
  return OkStatus();
}

StatusOr<uint64_t> FreeBytes(const std::string& path) {
  struct statvfs space {};
  if (statvfs(path.c_str(), &space) != 0) {
    return FileError("Can't look at the disk of", path, errno);
  }
  return uint64_t{space.f_bavail} * space.f_frsize;
}

StatusOr<std::vector<std::string>> ListFolder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) return FileError("Can't list the folder", path, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

StatusOr<std::unique_ptr<FileLock>> FileLock::Acquire(const std::string& path, bool shared,
                                                      std::string_view what) {
  OpenFile lock(path, O_RDWR | O_CREAT);
  if (lock.file() < 0) return FileError("Can't open", path, errno);
  if (flock(lock.file(), (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return FileError("Can't lock", path, errno);
    StatusOr<std::string> holder = ReadSmallFile(path);
    return FailedPrecondition(std::string(what) + " is in use by " +
                              (holder.ok() && !holder->empty() ? *holder : "another process") +
                              ".");
  }
  if (!shared) {
    if (ftruncate(lock.file(), 0) != 0) return FileError("Can't write", path, errno);
    RETURN_IF_ERROR(WriteAll(lock.file(), path, "process " + std::to_string(getpid())));
  }
  return std::unique_ptr<FileLock>(new FileLock(lock.Release()));
}

FileLock::~FileLock() { close(file_); }

}  // namespace koios::storage
