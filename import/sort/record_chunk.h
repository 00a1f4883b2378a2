// RecordChunk: (key, value) records packed one behind the other: key size varint | value size
// varint | key | value. It is filled by one thread and handed on whole.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace koios::import {

// Sizes take one byte each for most records.
inline char* PutRecordSize(uint32_t size, char* out) {
  while (size >= 0x80) {
    *out++ = static_cast<char>(size | 0x80);
    size >>= 7;
  }
  *out++ = static_cast<char>(size);
  return out;
}
inline const char* GetRecordSize(const char* at, uint32_t* size) {
  uint32_t bits = static_cast<uint8_t>(*at++);
  if (bits >= 0x80) {
    bits &= 0x7F;
    for (int shift = 7; shift < 35; shift += 7) {
      const uint32_t next = static_cast<uint8_t>(*at++);
      bits |= (next & 0x7F) << shift;
      if (next < 0x80) break;
    }
  }
  *size = bits;
  return at;
}

// A record where it stands.
struct RecordView {
  std::string_view key, value;
  const char* end() const { return value.data() + value.size(); }
};
// REQUIRES: a whole record at `at`.
inline RecordView ReadRecord(const char* at) {
  uint32_t key_size = 0, value_size = 0;
  at = GetRecordSize(at, &key_size);
  at = GetRecordSize(at, &value_size);
  return {{at, key_size}, {at + key_size, value_size}};
}

class RecordChunk {
 public:
  void Add(std::string_view key, std::string_view value) {
    // Room for the sizes at their longest, given back below.
    const size_t begin = bytes_.size();
    bytes_.resize(begin + kLongestSizes + key.size() + value.size());
    char* at = PutRecordSize(static_cast<uint32_t>(key.size()), bytes_.data() + begin);
    at = PutRecordSize(static_cast<uint32_t>(value.size()), at);
    std::memcpy(at, key.data(), key.size());
    at += key.size();
    if (!value.empty()) std::memcpy(at, value.data(), value.size());
    at += value.size();
    bytes_.resize(static_cast<size_t>(at - bytes_.data()));
    ++num_records_;
  }
  void Reserve(size_t bytes) { bytes_.reserve(bytes); }

  bool empty() const { return num_records_ == 0; }
  uint64_t num_records() const { return num_records_; }
  const std::string& bytes() const { return bytes_; }

  template <typename Use>
  void ForEach(const Use& use) const {
    for (const char* at = bytes_.data(); at != bytes_.data() + bytes_.size();) {
      const RecordView record = ReadRecord(at);
      use(record.key, record.value);
      at = record.end();
    }
  }

 private:
  static constexpr size_t kLongestSizes = 10;

  std::string bytes_;
  uint64_t num_records_ = 0;
};

}  // namespace koios::import
