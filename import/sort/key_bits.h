// KeyBits: what tells the keys of a sort apart, as one number. Of their first bytes (a window) the
// bits that differ are gathered, the first 64 of them: numbers order as those bits do, so fixed
// keys of twenty bytes, of which most are alike, are sorted as numbers and made again from them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace koios::import {

// Exchanges two stretches of all keys before they are compared: [begin, middle) and [middle, end).
// The default leaves keys as they are. REQUIRES: keys are at least `end` long.
struct KeySwap {
  uint32_t begin = 0, middle = 0, end = 0;
  bool any() const { return end > begin; }
  // Where the byte at `place` of the other order stands in a key.
  size_t Source(size_t place) const {
    if (place < begin || place >= end) return place;
    const size_t moved = place - begin + middle;
    return moved < end ? moved : moved - (end - begin);
  }
};

class KeyBits {
 public:
  static constexpr size_t kWindowBytes = 32;
  // A window, first bytes on top; zeros behind the key's end.
  using Words = std::array<uint64_t, kWindowBytes / 8>;
  static Words Load(std::string_view key);

  // `differ`: the bits in which some key differs from `sample`, as the keys stand. REQUIRES: `swap`
  // ends in the window.
  KeyBits(const Words& differ, const Words& sample, KeySwap swap);

  int bits() const { return bits_; }
  // No bit that differs was left out.
  bool all() const { return covered_ == kWindowBytes; }
  // Bytes, in the other order, of which nothing was left out.
  size_t covered() const { return covered_; }

  uint64_t Gather(const Words& key) const {
    uint64_t number = 0;
    for (size_t i = 0; i < num_parts_; ++i) {
      const Part& part = parts_[i];
      number |= ((key[part.from_word] >> part.from_shift) & part.mask) << part.shift;
    }
    return number;
  }
  // The window in the other order. REQUIRES: all().
  void Expand(uint64_t number, char* window) const;

 private:
  // Bits that stand together in the key, in its other order, and in the number.
  struct Part {
    uint64_t mask = 0;
    uint8_t from_word = 0, from_shift = 0, to_word = 0, to_shift = 0, shift = 0;
  };
  // The bits [low, high] of a byte.
  void AddBits(size_t from, size_t to, int high, int low);

  std::array<Part, kWindowBytes> parts_;
  size_t num_parts_ = 0;
  int bits_ = 0;
  size_t covered_ = kWindowBytes;
  Words rest_{};  // in the other order, what all keys have
};

}  // namespace koios::import
