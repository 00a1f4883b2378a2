#include "import/sort/key_bits.h"

#include <bit>
#include <cstring>

namespace koios::import {
namespace {

constexpr size_t kWordBytes = 8;
constexpr int kMostBits = 64;
// So many bits that are alike are taken along where that makes two parts one.
constexpr int kBridgedBits = 2;

uint64_t BigEndian(uint64_t number) {
  return std::endian::native == std::endian::little ? __builtin_bswap64(number) : number;
}

uint64_t BigEndianAt(const char* bytes) {
  uint64_t number = 0;
  std::memcpy(&number, bytes, sizeof(number));
  return BigEndian(number);
}

int ShiftOf(size_t byte) { return static_cast<int>(8 * (kWordBytes - 1 - byte % kWordBytes)); }

uint8_t ByteOf(const KeyBits::Words& words, size_t byte) {
  return static_cast<uint8_t>(words[byte / kWordBytes] >> ShiftOf(byte));
}

uint64_t MaskOf(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

}  // namespace

KeyBits::Words KeyBits::Load(std::string_view key) {
  Words words{};
  const size_t size = key.size() < kWindowBytes ? key.size() : kWindowBytes;
  size_t at = 0;
  for (; at + kWordBytes <= size; at += kWordBytes) {
    words[at / kWordBytes] = BigEndianAt(key.data() + at);
  }
  if (at == size) return words;
  const size_t rest = size - at;
  if (size >= kWordBytes) {
    // The last eight bytes, of which those that were taken fall off the top.
    words[at / kWordBytes] = BigEndianAt(key.data() + size - kWordBytes)
                             << (8 * (kWordBytes - rest));
    return words;
  }
  char bytes[kWordBytes] = {};
  std::memcpy(bytes, key.data(), rest);
  words[0] = BigEndianAt(bytes);
  return words;
}

KeyBits::KeyBits(const Words& differ, const Words& sample, KeySwap swap) {
  for (size_t to = 0; to < kWindowBytes; ++to) {
    const size_t from = swap.Source(to);
    rest_[to / kWordBytes] |= uint64_t{ByteOf(sample, from)} << ShiftOf(to);
    const unsigned bits = ByteOf(differ, from);
    if (bits == 0 || covered_ < kWindowBytes) continue;
    const int high = std::bit_width(bits) - 1, low = std::countr_zero(bits);
    // The first bits of a byte that does not fit whole tell, too.
    const int room = kMostBits - bits_;
    if (high - low + 1 > room) covered_ = to;
    if (room > 0) AddBits(from, to, high, high - low + 1 > room ? high - room + 1 : low);
  }
  int left = bits_;
  for (size_t i = 0; i < num_parts_; ++i) {
    Part& part = parts_[i];
    left -= std::popcount(part.mask);
    part.shift = static_cast<uint8_t>(left);
    rest_[part.to_word] &= ~(part.mask << part.to_shift);
  }
}

void KeyBits::AddBits(size_t from, size_t to, int high, int low) {
  const int from_high = ShiftOf(from) + high, from_low = ShiftOf(from) + low;
  if (num_parts_ > 0) {
    Part& last = parts_[num_parts_ - 1];
    const int gap = last.from_shift - from_high - 1;
    const bool neighbours = last.from_word == from / kWordBytes &&
                            last.to_word == to / kWordBytes &&
                            last.to_shift - last.from_shift == ShiftOf(to) - ShiftOf(from);
    const int more = last.from_shift - from_low;
    if (neighbours && gap >= 0 && gap <= kBridgedBits && bits_ + more <= kMostBits) {
      last.mask = MaskOf(std::popcount(last.mask) + more);
      last.from_shift = static_cast<uint8_t>(from_low);
      last.to_shift = static_cast<uint8_t>(ShiftOf(to) + low);
      bits_ += more;
      return;
    }
  }
  Part& part = parts_[num_parts_++];
  part.mask = MaskOf(high - low + 1);
  part.from_word = static_cast<uint8_t>(from / kWordBytes);
  part.from_shift = static_cast<uint8_t>(from_low);
  part.to_word = static_cast<uint8_t>(to / kWordBytes);
  part.to_shift = static_cast<uint8_t>(ShiftOf(to) + low);
  bits_ += high - low + 1;
}

void KeyBits::Expand(uint64_t number, char* window) const {
  Words words = rest_;
  for (size_t i = 0; i < num_parts_; ++i) {
    const Part& part = parts_[i];
    words[part.to_word] |= ((number >> part.shift) & part.mask) << part.to_shift;
  }
  for (uint64_t& word : words) word = BigEndian(word);
  std::memcpy(window, words.data(), kWindowBytes);
}

}  // namespace koios::import
