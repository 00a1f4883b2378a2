#include "storage/disk/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace koios::storage {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMaxSmallFile = 64 * 1024;

}  // namespace

Status FileError(std::string_view doing, const std::string& path, int error) {
  const std::string message = std::string(doing) + " '" + path + "': " + std::strerror(error) + ".";
  ErrorDetail detail;
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
      detail.reason = "DISK_FULL";
      detail.limit = "disk space";
      return ResourceExhausted(message, detail);
    case EMFILE:
    case ENFILE:
      return ResourceExhausted(message, detail);
    default:
      return Unavailable(message);
  }
}

namespace {

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

 private:
  const int file_;
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

// How many bytes it got; fewer than asked for only at the end of the file.
StatusOr<size_t> ReadSome(int file, const std::string& path, char* out, size_t bytes) {
  size_t size = 0;
  while (size < bytes) {
    const ssize_t got = read(file, out + size, bytes - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError("Can't read", path, errno);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  return size;
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
  ASSIGN_OR_RETURN(const size_t size, ReadSome(in.file(), path, content.data(), content.size()));
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

Status RenameDurably(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) return FileError("Can't rename", from, errno);
  return SyncFolder(fs::path(to).parent_path().string());
}

bool MayWriteFolder(const std::string& path) {
  return faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) == 0 ||
         (errno != EACCES && errno != EROFS && errno != EPERM);
}

struct RunningHash::State {
  XXH3_state_t* const xxh = XXH3_createState();
  ~State() { XXH3_freeState(xxh); }
};

RunningHash::RunningHash() : state_(std::make_unique<State>()) { XXH3_64bits_reset(state_->xxh); }
RunningHash::~RunningHash() = default;
void RunningHash::Add(std::string_view bytes) {
  XXH3_64bits_update(state_->xxh, bytes.data(), bytes.size());
}
uint64_t RunningHash::Value() const { return XXH3_64bits_digest(state_->xxh); }

StatusOr<FileHash> HashFile(const std::string& path, uint64_t bytes) {
  OpenFile in(path, O_RDONLY);
  if (in.file() < 0) return FileError("Can't open", path, errno);
  RunningHash hash;
  std::string buffer(size_t{1} << 18, '\0');
  FileHash out;
  while (out.bytes < bytes) {
    const size_t wanted = std::min<uint64_t>(buffer.size(), bytes - out.bytes);
    ASSIGN_OR_RETURN(const size_t got, ReadSome(in.file(), path, buffer.data(), wanted));
    if (got == 0) break;
    hash.Add(std::string_view(buffer.data(), got));
    out.bytes += got;
  }
  out.hash = hash.Value();
  return out;
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
  int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 && shared) {
    const int error = std::exchange(errno, 0);
    file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool is_free = file < 0 && errno == ENOENT;
    errno = error;
    if (is_free) return std::unique_ptr<FileLock>(new FileLock(-1));
  }
  if (file < 0) return FileError("Can't open", path, errno);
  std::unique_ptr<FileLock> lock(new FileLock(file));
  if (flock(file, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return FileError("Can't lock", path, errno);
    StatusOr<std::string> holder = ReadSmallFile(path);
    return FailedPrecondition(std::string(what) + " is in use by " +
                              (holder.ok() && !holder->empty() ? *holder : "another process") +
                              ".");
  }
  if (!shared) {
    // Only to be told to others: a full disk is no reason not to hold the lock.
    const std::string text = "process " + std::to_string(getpid());
    if (pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) {
      static_cast<void>(!ftruncate(file, static_cast<off_t>(text.size())));
    }
  }
  return lock;
}

FileLock::~FileLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace koios::storage
