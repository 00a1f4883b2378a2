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

// What a system call's error means; `doing` begins the message: "Can't open".
Status FileError(std::string_view doing, const std::string& path, int error);

bool PathExists(const std::string& path);
// With all parents, for the owner only.
Status MakeFolder(const std::string& path);
// Durably replaces the file: written aside, synced, renamed, its folder synced.
Status WriteFileDurably(const std::string& path, std::string_view content);
// REQUIRES: a small file; more than 64 KiB is DATA_LOSS.
StatusOr<std::string> ReadSmallFile(const std::string& path);
Status SyncFolder(const std::string& path);
// Within one folder, durably.
Status RenameDurably(const std::string& from, const std::string& to);
// False when this process may not change what is in the folder, because of the folder's permissions
// or because its disk is mounted for reading only.
bool MayWriteFolder(const std::string& path);
// XXH3, 64 bits, of bytes that come in pieces.
class RunningHash {
 public:
  RunningHash();
  ~RunningHash();
  void Add(std::string_view bytes);
  uint64_t Value() const;  // of all so far

 private:
  struct State;
  const std::unique_ptr<State> state_;
};
// Of the first `bytes` of a file: how many there are, and their hash.
struct FileHash {
  uint64_t bytes = 0;
  uint64_t hash = 0;
};
StatusOr<FileHash> HashFile(const std::string& path, uint64_t bytes);
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
  // taken; `what` is what it protects, as the message says it ("The data folder 'x'"). Where
  // nothing can be written a shared lock needs no file: without one nobody ever held it.
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
