#include "import/sort/record_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

namespace koios::import {
namespace {

// Fewer are not worth a pass over 256 counters.
constexpr size_t kFewEntries = 256;

uint64_t BigEndian(uint64_t number) {
  return std::endian::native == std::endian::little ? __builtin_bswap64(number) : number;
}

uint64_t BigEndianAt(const char* bytes) {
  uint64_t number = 0;
  std::memcpy(&number, bytes, sizeof(number));
  return BigEndian(number);
}

// How many bytes both begin with, up to `most`.
size_t CommonBytes(std::string_view a, std::string_view b, size_t most) {
  most = std::min({most, a.size(), b.size()});
  size_t same = 0;
  while (same < most && a[same] == b[same]) ++same;
  return same;
}

bool SamePrefix(const OrderEntry& a, const OrderEntry& b) {
  return a.high == b.high && a.low == b.low;
}

}  // namespace

void RecordOrder::Add(std::string_view records) {
  for (const char* at = records.data(); at != records.data() + records.size();) {
    const RecordView record = ReadRecord(at);
    keys_.Add(record.key.size());
    values_.Add(record.value.size());
    const std::string_view key = swap_.Apply(record.key, &swapped_);
    if (entries_.empty()) {
      key_ = key;
      common_ = key.size();
    } else {
      common_ = CommonBytes(key_, key, common_);
    }
    entries_.emplace_back().at = at;
    at = record.end();
  }
}

void RecordOrder::Sort() {
  if (entries_.empty()) return;
  key_.resize(common_);
  const bool whole = keys_.longest == keys_.shortest && keys_.longest <= common_ + kPrefixBytes;
  packed_ =
      whole && values_.longest == values_.shortest && values_.longest <= sizeof(OrderEntry::value);
  FillPrefixes();
  SortPrefixes();
  if (!whole) SortTies();
}

std::string_view RecordOrder::KeyOf(const OrderEntry& entry, std::string* buffer) const {
  return swap_.Apply(ReadRecord(entry.at).key, buffer);
}

void RecordOrder::FillPrefixes() {
  std::string buffer;
  for (OrderEntry& entry : entries_) {
    const RecordView record = ReadRecord(entry.at);
    const std::string_view key = swap_.Apply(record.key, &buffer);
    char prefix[kPrefixBytes] = {};
    std::memcpy(prefix, key.data() + common_, std::min(kPrefixBytes, key.size() - common_));
    entry.high = BigEndianAt(prefix);
    entry.low = BigEndianAt(prefix + 8);
    differ_high_ |= entry.high ^ entries_[0].high;
    differ_low_ |= entry.low ^ entries_[0].low;
    if (packed_ && !record.value.empty()) {
      std::memcpy(entry.value, record.value.data(), record.value.size());
    }
  }
}

void RecordOrder::SortPrefixes() {
  if (entries_.size() < kFewEntries) {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const OrderEntry& a, const OrderEntry& b) {
                       return a.high != b.high ? a.high < b.high : a.low < b.low;
                     });
    return;
  }
  std::vector<OrderEntry> other(entries_.size());
  for (int shift = 0; shift < 64; shift += 8) {
    if ((differ_low_ >> shift & 0xFF) != 0) Pass<&OrderEntry::low>(shift, &other);
  }
  for (int shift = 0; shift < 64; shift += 8) {
    if ((differ_high_ >> shift & 0xFF) != 0) Pass<&OrderEntry::high>(shift, &other);
  }
}

template <uint64_t OrderEntry::*Part>
void RecordOrder::Pass(int shift, std::vector<OrderEntry>* other) {
  std::array<size_t, 256> places{};
  for (const OrderEntry& entry : entries_) ++places[entry.*Part >> shift & 0xFF];
  size_t before = 0;
  for (size_t& place : places) before += std::exchange(place, before);
  OrderEntry* const to = other->data();
  for (const OrderEntry& entry : entries_) to[places[entry.*Part >> shift & 0xFF]++] = entry;
  entries_.swap(*other);
}

// Records that agree in the prefix, by their whole keys.
void RecordOrder::SortTies() {
  std::string a_buffer, b_buffer;
  const auto less = [&](const OrderEntry& a, const OrderEntry& b) {
    return KeyOf(a, &a_buffer) < KeyOf(b, &b_buffer);
  };
  for (auto begin = entries_.begin(); begin != entries_.end();) {
    auto end = begin + 1;
    while (end != entries_.end() && SamePrefix(*begin, *end)) ++end;
    if (end - begin > 1) std::stable_sort(begin, end, less);
    begin = end;
  }
}

void RecordOrder::Read(size_t i, std::string_view* key, std::string_view* value) {
  const OrderEntry& entry = entries_[i];
  if (!packed_) {
    const RecordView record = ReadRecord(entry.at);
    *key = swap_.Apply(record.key, &swapped_);
    *value = record.value;
    return;
  }
  const uint64_t high = BigEndian(entry.high), low = BigEndian(entry.low);
  key_.resize(common_ + kPrefixBytes);
  std::memcpy(key_.data() + common_, &high, sizeof(high));
  std::memcpy(key_.data() + common_ + sizeof(high), &low, sizeof(low));
  *key = std::string_view(key_).substr(0, keys_.longest);
  *value = std::string_view(entry.value, values_.longest);
}

}  // namespace koios::import
