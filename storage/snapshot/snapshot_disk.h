// SnapshotDisk: what the writer of a snapshot asks of the file system; tests put their own in its
// place, which fails or stops at the n-th call. Errors as in storage/disk/files.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/status.h"

namespace koios::storage {

// One file that is being written. Belongs to one thread.
class SnapshotOutput {
 public:
  virtual ~SnapshotOutput() = default;
  // Room for a file of about so many bytes; RESOURCE_EXHAUSTED when the disk does not have it.
  virtual Status Reserve(uint64_t bytes) = 0;
  virtual Status Write(uint64_t offset, std::string_view bytes) = 0;
  // The file has `bytes`, all of them on disk.
  virtual Status Finish(uint64_t bytes) = 0;
};

class SnapshotDisk {
 public:
  virtual ~SnapshotDisk() = default;
  // A new file, in the place of one that is there.
  virtual StatusOr<std::unique_ptr<SnapshotOutput>> Create(const std::string& path) = 0;
  // Durably, within one folder.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;

  static SnapshotDisk* Real();
};

}  // namespace koios::storage
