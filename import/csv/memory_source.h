// A ByteSource over a string that hands out at most `step` bytes a time: what tests read from.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "import/csv/byte_source.h"

namespace koios::import {

class MemorySource : public ByteSource {
 public:
  MemorySource(std::string text, size_t step) : text_(std::move(text)), step_(step) {}

  StatusOr<size_t> Read(char* buffer, size_t size) override {
    size_t got = std::min({size, step_, text_.size() - at_});
    std::memcpy(buffer, text_.data() + at_, got);
    at_ += got;
    consumed_ += got;
    return got;
  }

 private:
  std::string text_;
  size_t step_;
  size_t at_ = 0;
};

}  // namespace koios::import
