// The sort of records in memory: by the bytes of their keys, records of equal keys as they came.
// Keys become numbers (key_bits.h), which are sorted digit by digit from the last (LSD radix);
// records whose numbers are equal, though more of their keys differs, are sorted by what follows.
// Small records of one size are read from what was sorted, not from where they stand.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "import/sort/key_bits.h"
#include "import/sort/large_array.h"
#include "import/sort/record_chunk.h"

namespace koios::import {

// The key in the other order: itself, or in `buffer`.
std::string_view SwapKey(KeySwap swap, std::string_view key, std::string* buffer);

// A record: what tells its key, and where it stands or, where that tells all of it, its value:
// eight bytes when all values have eight (packed), or up to seven with their number.
struct OrderEntry {
  static constexpr size_t kMostInside = 7;
  static constexpr unsigned kInside = 0x80;
  // No address of a program's memory has its highest bit.
  static_assert(std::endian::native == std::endian::little && sizeof(const char*) == 8);

  uint64_t number = 0;
  union {
    const char* at = nullptr;
    char value[8];
  };

  void PutInside(std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(value, bytes.data(), bytes.size());
    value[kMostInside] = static_cast<char>(kInside | bytes.size());
  }
  bool is_inside() const { return (static_cast<uint8_t>(value[kMostInside]) & kInside) != 0; }
  std::string_view inside() const {
    return {value, static_cast<uint8_t>(value[kMostInside]) & ~kInside};
  }
};

class RecordOrder {
 public:
  static constexpr size_t kMostRecords = ~uint32_t{0};

  // At most `count` records are added. A swap is done within the window of KeyBits.
  RecordOrder(KeySwap swap, size_t count) : swap_(swap), entries_(count) {}

  // Takes in records that stand one behind the other, and will as long as this lives.
  void Add(std::string_view records);
  // After the last Add. Uses as much memory again while it sorts.
  void Sort();

  size_t size() const { return size_; }
  // The i-th record; the key as it was compared. Until the next call.
  void Read(size_t i, std::string_view* key, std::string_view* value);
  // Has it fetched.
  void Prefetch(size_t i) const {
    if (!packed_ && i < size_ && !entries_[i].is_inside()) __builtin_prefetch(entries_[i].at);
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
  void SortNumbers(size_t begin, size_t end, int bits);
  // Entries with equal numbers, for each stretch of them: by what is behind `depth`.
  void SortTies(size_t begin, size_t end, size_t depth, int level);
  void SortByKeys(size_t begin, size_t end, size_t depth, int level);
  void CompareKeys(size_t begin, size_t end);

  const KeySwap swap_;
  LargeArray<OrderEntry> entries_, other_;
  size_t size_ = 0;
  Sizes keys_, values_;
  KeyBits::Words first_{}, differ_{};
  std::optional<KeyBits> bits_;
  bool whole_ = false;   // numbers tell keys
  bool packed_ = false;  // and all values have the size of an entry's
  char window_[KeyBits::kWindowBytes] = {};
  std::string swapped_;
};

}  // namespace koios::import
