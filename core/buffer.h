// Buffer: a stretch of memory that columns share. A VectorBuffer has a vector of one type, which
// its only holder may change; a BorrowedBuffer points into memory of somebody else (a mapped file),
// which it keeps alive. Counted atomically: holders may be in several threads, and what is shared
// never changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "boost/smart_ptr/intrusive_ptr.hpp"
#include "boost/smart_ptr/intrusive_ref_counter.hpp"

namespace koios {

class Buffer : public boost::intrusive_ref_counter<Buffer> {
 public:
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const void* start() const { return start_; }
  size_t num_items() const { return num_items_; }
  // Of the process, not of what is borrowed.
  size_t HeldBytes() const { return held_bytes_; }

 protected:
  Buffer() = default;

  const void* start_ = nullptr;
  size_t num_items_ = 0;
  size_t held_bytes_ = 0;
};

using BufferPtr = boost::intrusive_ptr<Buffer>;

template <typename T>
class VectorBuffer final : public Buffer {
 public:
  explicit VectorBuffer(std::vector<T> items = {}) : items_(std::move(items)) { Publish(); }

  // REQUIRES: nobody else holds it. Whoever has changed the vector publishes that.
  std::vector<T>& items() { return items_; }
  void Publish() {
    // Never null: there may be texts of no bytes.
    start_ = items_.empty() ? kNothing : static_cast<const void*>(items_.data());
    num_items_ = items_.size();
    held_bytes_ = sizeof(*this) + items_.capacity() * sizeof(T);
  }

 private:
  alignas(T) static constexpr unsigned char kNothing[sizeof(T)] = {};

  std::vector<T> items_;
};

class BorrowedBuffer final : public Buffer {
 public:
  BorrowedBuffer(const void* start, size_t num_items, std::shared_ptr<const void> owner)
      : owner_(std::move(owner)) {
    start_ = start;
    num_items_ = num_items;
    held_bytes_ = sizeof(*this);
  }

 private:
  const std::shared_ptr<const void> owner_;
};

}  // namespace koios
