// ByteSource: the bytes of an input file, plain, gzip or zstd.
// The first bytes decide which; a name ending in .gz or .zst that holds something else is refused.
// A source belongs to one thread; `consumed` may be read by any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "core/status.h"

namespace koios::import {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills up to `size` bytes; 0 means the end. INVALID_ARGUMENT for damaged compression.
  virtual StatusOr<size_t> Read(char* buffer, size_t size) = 0;

  // Bytes taken from the file so far (compressed ones, if it is compressed), for progress.
  uint64_t consumed() const { return consumed_.load(std::memory_order_relaxed); }

 protected:
  std::atomic<uint64_t> consumed_{0};
};

// `max_window_bytes` bounds what a zstd frame may ask the decoder to remember.
StatusOr<std::unique_ptr<ByteSource>> OpenByteSource(const std::string& path,
                                                     uint64_t max_window_bytes);

}  // namespace koios::import
