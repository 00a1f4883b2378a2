// Streams of bytes that are gathered before they can be written where they belong: in memory, and
// beyond a budget that all of them share in one temporary file, which has no name and goes with the
// process. Written whole, then read from front to back, as often as one likes. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "core/value_codec.h"

namespace koios::storage {

class SpillBuffer;

class SpillSpace {
 public:
  // The file is made in `folder` when it is first needed.
  SpillSpace(std::string folder, size_t budget_bytes)
      : folder_(std::move(folder)), budget_bytes_(budget_bytes) {}
  ~SpillSpace();
  SpillSpace(const SpillSpace&) = delete;
  SpillSpace& operator=(const SpillSpace&) = delete;

  size_t budget_bytes() const { return budget_bytes_; }
  // The first failure of any of its buffers, such as a full disk.
  const Status& status() const { return status_; }
  uint64_t spilled_bytes() const { return file_bytes_; }

  // Memory for what can't be spilled: at most half of the budget in all. False: none is left.
  [[nodiscard]] bool TryHold(size_t bytes);
  void Release(size_t bytes) { held_bytes_ -= bytes; }

 private:
  friend class SpillBuffer;
  friend class SpillReader;
  void Grown(size_t bytes) {
    memory_bytes_ += bytes;
    if (memory_bytes_ + held_bytes_ > budget_bytes_) SpillLargest();
  }
  void SpillLargest();
  void Write(std::string_view bytes);

  const std::string folder_;
  const size_t budget_bytes_;
  Status status_;
  int file_ = -1;
  uint64_t file_bytes_ = 0;
  size_t memory_bytes_ = 0;
  size_t held_bytes_ = 0;
  std::vector<SpillBuffer*> buffers_;
};

class SpillBuffer {
 public:
  explicit SpillBuffer(SpillSpace* space);
  ~SpillBuffer();
  SpillBuffer(const SpillBuffer&) = delete;
  SpillBuffer& operator=(const SpillBuffer&) = delete;

  void Append(std::string_view bytes) {
    tail_.append(bytes);
    bytes_ += bytes.size();
    space_->Grown(bytes.size());
  }
  template <typename T>
  void AppendNumber(T number) {
    Append(std::string_view(reinterpret_cast<const char*>(&number), sizeof(number)));
  }
  void AppendVarint(uint64_t number) {
    const size_t before = tail_.size();
    PutVarint(number, &tail_);
    const size_t bytes = tail_.size() - before;
    bytes_ += bytes;
    space_->Grown(bytes);
  }
  uint64_t bytes() const { return bytes_; }
  SpillSpace* space() const { return space_; }

 private:
  friend class SpillSpace;
  friend class SpillReader;
  struct Piece {
    uint64_t offset = 0, bytes = 0;
  };
  void Spill();

  SpillSpace* const space_;
  size_t place_;  // in the space's list
  std::vector<Piece> pieces_;
  std::string tail_;
  uint64_t bytes_ = 0;
};

// Reads a buffer that does not change meanwhile.
class SpillReader {
 public:
  explicit SpillReader(const SpillBuffer& buffer, size_t window_bytes = size_t{256} << 10)
      : buffer_(buffer), window_bytes_(window_bytes) {}

  // The next bytes, some at least; empty: the end, or a failure.
  std::string_view Next();
  // At least `bytes` of what comes are at hand; false at the end, or when it failed.
  bool Fill(size_t bytes);
  std::string_view at_hand() const { return window_; }
  void Skip(size_t bytes) { window_.remove_prefix(bytes); }

  bool ReadVarint(uint64_t* number) {
    if (window_.empty() || static_cast<unsigned char>(window_.front()) >= 0x80) {
      return ReadLongVarint(number);
    }
    *number = static_cast<unsigned char>(window_.front());
    Skip(1);
    return true;
  }
  // Until the next call.
  bool ReadBytes(size_t bytes, std::string_view* out);
  template <typename T>
  bool ReadNumber(T* number) {
    if (!Fill(sizeof(T))) return false;
    __builtin_memcpy(number, window_.data(), sizeof(T));
    Skip(sizeof(T));
    return true;
  }
  const Status& status() const { return status_; }

 private:
  bool ReadLongVarint(uint64_t* number);
  bool More();

  const SpillBuffer& buffer_;
  const size_t window_bytes_;
  size_t piece_ = 0;
  uint64_t in_piece_ = 0;
  bool tail_read_ = false;
  std::string storage_;
  std::string_view window_;
  Status status_;
};

}  // namespace koios::storage
