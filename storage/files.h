// Small files and folders of the data folder: written durably, read whole, locked against a second
// process. Errors name the path: NOT_FOUND, RESOURCE_EXHAUSTED (disk full), UNAVAILABLE.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace koios::storage {

bool PathExists(const std::string& path);
// With all parents, for the owner only.
Status MakeFolder(const std::string& path);
// Durably replaces the file: written aside, synced, renamed, its folder synced.
Status WriteFileDurably(const std::string& path, std::string_view content);
// REQUIRES: a small file; more than 64 KiB is DATA_LOSS.
StatusOr<std::string> ReadSmallFile(const std::string& path);
Status SyncFolder(const std::string& path);
// A file or a folder with all that is in it; no error when there is none.
Status RemovePath(const std::string& path);
// Bytes that may still be written where the path is.
StatusOr<uint64_t> FreeBytes(const std::string& path);
// Names in a folder, sorted, without "." and "..".
StatusOr<std::vector<std::string>> ListFolder(const std::string& path);

// Holds a file against every other holder, in this process or another, while it lives; the file
// says who holds it. The operating system lets go when the process dies.
class FileLock {
 public:
  // Shared locks exclude exclusive ones only. FAILED_PRECONDITION, naming the holder, when it is
  // taken; `what` is what it protects, as the message says it ("The data folder 'x'").
  static StatusOr<std::unique_ptr<FileLock>> Acquire(const std::string& path, bool shared,
                                                     std::string_view what);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int file) : file_(file) {}
  int file_;
};

}  // namespace koios::storage
