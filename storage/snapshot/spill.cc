#include "storage/snapshot/spill.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "storage/disk/files.h"

namespace koios::storage {
namespace {

constexpr char kWhat[] = "a temporary file of the snapshot";
constexpr size_t kMostVarintBytes = 10;

}  // namespace

SpillSpace::~SpillSpace() {
  if (file_ >= 0) close(file_);
}

bool SpillSpace::TryHold(size_t bytes) {
  if (held_bytes_ + bytes > budget_bytes_ / 2) return false;
  held_bytes_ += bytes;
  return true;
}

// All that are at least as large as the average: few, or all when they are alike.
void SpillSpace::SpillLargest() {
  const size_t average = memory_bytes_ / std::max<size_t>(buffers_.size(), 1);
  for (SpillBuffer* buffer : buffers_) {
    if (!buffer->tail_.empty() && buffer->tail_.size() >= average) buffer->Spill();
  }
}

void SpillSpace::Write(std::string_view bytes) {
  if (!status_.ok()) return;
  if (file_ < 0) {
    std::string path = folder_ + "/spill-XXXXXX";
    file_ = mkostemp(path.data(), O_CLOEXEC);
    if (file_ < 0) {
      status_ = FileError("Can't create", kWhat, errno);
      return;
    }
    unlink(path.c_str());
  }
  while (!bytes.empty()) {
    const ssize_t written =
        pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(file_bytes_));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      status_ = FileError("Can't write", kWhat, errno);
      return;
    }
    file_bytes_ += static_cast<uint64_t>(written);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

SpillBuffer::SpillBuffer(SpillSpace* space) : space_(space), place_(space->buffers_.size()) {
  space->buffers_.push_back(this);
}

SpillBuffer::~SpillBuffer() {
  space_->memory_bytes_ -= tail_.size();
  space_->buffers_.back()->place_ = place_;
  std::swap(space_->buffers_[place_], space_->buffers_.back());
  space_->buffers_.pop_back();
}

void SpillBuffer::Spill() {
  pieces_.push_back({space_->file_bytes_, tail_.size()});
  space_->Write(tail_);
  space_->memory_bytes_ -= tail_.size();
  tail_ = std::string();
}

// Takes more into the window, behind what is left of it.
bool SpillReader::More() {
  if (!status_.ok() || tail_read_) return false;
  std::string next(window_);
  if (piece_ == buffer_.pieces_.size()) {
    tail_read_ = true;
    // Read in place when nothing stands before it.
    if (next.empty()) {
      window_ = buffer_.tail_;
      return !window_.empty();
    }
    next += buffer_.tail_;
    const bool grew = !buffer_.tail_.empty();
    storage_ = std::move(next);
    window_ = storage_;
    return grew;
  }
  const SpillBuffer::Piece& piece = buffer_.pieces_[piece_];
  const size_t wanted = std::min<uint64_t>(window_bytes_, piece.bytes - in_piece_);
  const size_t before = next.size();
  next.resize(before + wanted);
  size_t got = 0;
  while (got < wanted) {
    const ssize_t bytes = pread(buffer_.space_->file_, next.data() + before + got, wanted - got,
                                static_cast<off_t>(piece.offset + in_piece_ + got));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) {
      status_ = buffer_.space_->status().ok() ? FileError("Can't read", kWhat, errno)
                                              : buffer_.space_->status();
      return false;
    }
    got += static_cast<size_t>(bytes);
  }
  in_piece_ += wanted;
  if (in_piece_ == piece.bytes) {
    ++piece_;
    in_piece_ = 0;
  }
  storage_ = std::move(next);
  window_ = storage_;
  return true;
}

std::string_view SpillReader::Next() {
  while (window_.empty()) {
    if (!More()) return {};
  }
  return std::exchange(window_, {});
}

bool SpillReader::Fill(size_t bytes) {
  while (window_.size() < bytes) {
    if (!More()) return false;
  }
  return true;
}

bool SpillReader::ReadLongVarint(uint64_t* number) {
  Fill(kMostVarintBytes);
  std::string_view rest = window_;
  if (!GetVarint(&rest, number)) return false;
  Skip(window_.size() - rest.size());
  return true;
}

bool SpillReader::ReadBytes(size_t bytes, std::string_view* out) {
  if (!Fill(bytes)) return false;
  *out = window_.substr(0, bytes);
  Skip(bytes);
  return true;
}

}  // namespace koios::storage
