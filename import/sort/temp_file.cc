#include "import/sort/temp_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/value_codec.h"
#include "import/io_error.h"

namespace koios::import {
namespace {

constexpr size_t kMaxLengths = 20;  // two varints

}  // namespace

StatusOr<std::unique_ptr<TempFile>> TempFile::Create(const std::string& dir) {
  std::string path = dir + "/koios-import-XXXXXX";
  int fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) return IoError("create a temporary file in", dir, errno);
  ::unlink(path.c_str());
  return std::unique_ptr<TempFile>(new TempFile(fd, dir));
}

TempFile::~TempFile() { ::close(fd_); }

Status TempFile::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return IoError("write a temporary file in", dir_, errno);
    }
    size_ += static_cast<uint64_t>(written);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

StatusOr<size_t> TempFile::ReadAt(uint64_t offset, char* buffer, size_t size) const {
  size_t done = 0;
  while (done < size) {
    ssize_t got = ::pread(fd_, buffer + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0) {
      if (errno == EINTR) continue;
      return IoError("read a temporary file in", dir_, errno);
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

RunWriter::RunWriter(TempFile* file, size_t buffer_bytes)
    : file_(file), buffer_bytes_(buffer_bytes), begin_(file->size()) {}

Status RunWriter::Add(std::string_view key, std::string_view value) {
  PutVarint(key.size(), &buffer_);
  PutVarint(value.size(), &buffer_);
  buffer_.append(key);
  buffer_.append(value);
  if (buffer_.size() < buffer_bytes_) return OkStatus();
  Status status = file_->Append(buffer_);
  buffer_.clear();
  return status;
}

StatusOr<Run> RunWriter::Finish() {
  RETURN_IF_ERROR(file_->Append(buffer_));
  buffer_.clear();
  return Run{begin_, file_->size()};
}

RunReader::RunReader(const TempFile* file, Run run, size_t buffer_bytes)
    : file_(file), next_(run.begin), end_(run.end), buffer_bytes_(buffer_bytes) {}

Status RunReader::Fill(size_t needed) {
  if (available() >= needed || next_ == end_) return OkStatus();
  buffer_.erase(0, at_);
  at_ = 0;
  const size_t old = buffer_.size();
  const uint64_t wanted = std::min<uint64_t>(std::max(needed, buffer_bytes_) - old, end_ - next_);
  buffer_.resize(old + wanted);
  ASSIGN_OR_RETURN(size_t got, file_->ReadAt(next_, buffer_.data() + old, wanted));
  if (got != wanted) return DataLoss("A temporary file of the import is shorter than written.");
  next_ += wanted;
  return OkStatus();
}

StatusOr<bool> RunReader::Next() {
  if (available() < kMaxLengths) RETURN_IF_ERROR(Fill(kMaxLengths));
  if (available() == 0) return false;
  std::string_view rest = std::string_view(buffer_).substr(at_);
  uint64_t key_size = 0, value_size = 0;
  if (!GetVarint(&rest, &key_size) || !GetVarint(&rest, &value_size) || key_size > end_ ||
      value_size > end_) {
    return DataLoss("A temporary file of the import is damaged.");
  }
  at_ = buffer_.size() - rest.size();
  const size_t size = key_size + value_size;
  RETURN_IF_ERROR(Fill(size));
  if (available() < size) return DataLoss("A temporary file of the import is damaged.");
  key_ = std::string_view(buffer_).substr(at_, key_size);
  value_ = std::string_view(buffer_).substr(at_ + key_size, value_size);
  at_ += size;
  return true;
}

}  // namespace koios::import
