// TempFile: bytes put aside on disk, and sequential runs of (key, value) records in it.
// The file has no name from the moment it is opened, so its space is free again however the process
// ends. One thread writes; readers of finished runs may be on other threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/status.h"

namespace koios::import {

class TempFile {
 public:
  static StatusOr<std::unique_ptr<TempFile>> Create(const std::string& dir);
  ~TempFile();
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  uint64_t size() const { return size_; }
  Status Append(std::string_view bytes);
  // Fewer bytes only at the end of the file.
  StatusOr<size_t> ReadAt(uint64_t offset, char* buffer, size_t size) const;

 private:
  TempFile(int fd, std::string dir) : fd_(fd), dir_(std::move(dir)) {}

  int fd_;
  std::string dir_;  // for messages
  uint64_t size_ = 0;
};

// A stretch of a TempFile that holds records.
struct Run {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Appends records to a file through a buffer. The run is what lies between construction and Finish.
class RunWriter {
 public:
  RunWriter(TempFile* file, size_t buffer_bytes);
  Status Add(std::string_view key, std::string_view value);
  StatusOr<Run> Finish();

 private:
  TempFile* file_;
  size_t buffer_bytes_;
  uint64_t begin_;
  std::string buffer_;
};

// Reads the records of a run in order. It holds one buffer, larger only for a larger record.
class RunReader {
 public:
  RunReader(const TempFile* file, Run run, size_t buffer_bytes);
  // False at the end. Key and value live until the next call. DATA_LOSS when the file was damaged.
  StatusOr<bool> Next();
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  Status Fill(size_t needed);  // at least that many bytes from at_ on, if the run has them
  size_t available() const { return buffer_.size() - at_; }

  const TempFile* file_;
  uint64_t next_;  // offset in the file of the first byte not in buffer_
  uint64_t end_;
  size_t buffer_bytes_;
  std::string buffer_;
  size_t at_ = 0;
  std::string_view key_, value_;
};

}  // namespace koios::import
