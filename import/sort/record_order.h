// The sort of records in memory: by the bytes of their keys, records of equal keys as they came.
// What all keys begin with is left out, the next 16 bytes are sorted byte by byte from the last
// (LSD radix, the bytes that differ alone), and only records that are equal in them are compared.
// Small records of one size are read from what was sorted, not from where they stand.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "import/sort/record_chunk.h"

namespace koios::import {

// Exchanges two stretches of all keys before they are compared: [begin, middle) and [middle, end).
// The default leaves keys as they are. REQUIRES: keys are at least `end` long.
struct KeySwap {
  uint32_t begin = 0, middle = 0, end = 0;
  bool any() const { return end > begin; }
  // The key in the other order, in `buffer`.
  std::string_view Apply(std::string_view key, std::string* buffer) const {
    if (!any()) return key;
    buffer->resize(key.size());
    char* const to = buffer->data();
    std::memcpy(to, key.data(), begin);
    std::memcpy(to + begin, key.data() + middle, end - middle);
    std::memcpy(to + begin + (end - middle), key.data() + begin, middle - begin);
    std::memcpy(to + end, key.data() + end, key.size() - end);
    return *buffer;
  }
};

// A record: its key's bytes that tell most, and where it stands; or, when records are packed, its
// value.
struct OrderEntry {
  uint64_t high = 0, low = 0;
  union {
    const char* at = nullptr;
    char value[8];
  };
};

class RecordOrder {
 public:
  static constexpr size_t kPrefixBytes = 16;

  explicit RecordOrder(KeySwap swap) : swap_(swap) {}

  // Takes in records that stand one behind the other, and will as long as this lives.
  void Add(std::string_view records);
  void Reserve(uint64_t count) { entries_.reserve(count); }
  // After the last Add. Uses as much memory again while it sorts.
  void Sort();

  size_t size() const { return entries_.size(); }
  // The i-th record; the key as it was compared. Until the next call.
  void Read(size_t i, std::string_view* key, std::string_view* value);
  // Has it fetched.
  void Prefetch(size_t i) const {
    if (!packed_ && i < entries_.size()) __builtin_prefetch(entries_[i].at);
  }

 private:
  struct Sizes {
    size_t shortest = ~size_t{0}, longest = 0;
    void Add(size_t size) {
      shortest = size < shortest ? size : shortest;
      longest = size > longest ? size : longest;
    }
  };
  std::string_view KeyOf(const OrderEntry& entry, std::string* buffer) const;
  void FillPrefixes();
  void SortPrefixes();
  template <uint64_t OrderEntry::*Part>
  void Pass(int shift, std::vector<OrderEntry>* other);
  void SortTies();

  std::vector<OrderEntry> entries_;
  Sizes keys_, values_;
  const KeySwap swap_;
  bool packed_ = false;
  size_t common_ = 0;  // bytes that all keys begin with
  uint64_t differ_high_ = 0, differ_low_ = 0;
  // The first key; once all are sorted what Read gives, which begins with the common bytes.
  std::string key_;
  std::string swapped_;
};

}  // namespace koios::import
