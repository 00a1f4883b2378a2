#include "import/sort/record_order.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/status.h"

namespace koios::import {
namespace {

// Fewer are not worth a pass over counters.
constexpr size_t kFewEntries = 256;
// Bits of a digit: so many counters, and places that are written in turn, stay in the cache.
constexpr int kFewBits = 8, kMostBitsAtOnce = 11;
constexpr size_t kManyEntries = 16'384;
constexpr size_t kMostPasses = 8;
// Deeper, keys that agree so far are compared: all work is bounded, whatever they are.
constexpr int kMostLevels = 16;

}  // namespace

std::string_view SwapKey(KeySwap swap, std::string_view key, std::string* buffer) {
  if (!swap.any()) return key;
  buffer->resize(key.size());
  for (size_t i = 0; i < key.size(); ++i) (*buffer)[i] = key[swap.Source(i)];
  return *buffer;
}

void RecordOrder::Add(std::string_view records) {
  for (const char* at = records.data(); at != records.data() + records.size();) {
    const RecordView record = ReadRecord(at);
    keys_.Add(record.key.size());
    values_.Add(record.value.size());
    const KeyBits::Words words = KeyBits::Load(record.key);
    if (size_ == 0) first_ = words;
    for (size_t i = 0; i < words.size(); ++i) differ_[i] |= words[i] ^ first_[i];
    DCHECK(size_ < entries_.size());
    entries_[size_++].at = at;
    at = record.end();
  }
}

void RecordOrder::Sort() {
  if (size_ == 0) return;
  bits_.emplace(differ_, first_, swap_);
  whole_ = bits_->all() && keys_.longest == keys_.shortest && keys_.longest <= sizeof(window_);
  packed_ =
      whole_ && values_.longest == values_.shortest && values_.longest == sizeof(OrderEntry::value);
  for (size_t i = 0; i < size_; ++i) {
    OrderEntry& entry = entries_[i];
    const RecordView record = ReadRecord(entry.at);
    entry.number = bits_->Gather(KeyBits::Load(record.key));
    if (packed_) {
      std::memcpy(entry.value, record.value.data(), sizeof(entry.value));
    } else if (whole_ && record.value.size() <= OrderEntry::kMostInside) {
      entry.PutInside(record.value);
    }
  }
  if (size_ >= kFewEntries) other_ = LargeArray<OrderEntry>(size_);
  SortNumbers(0, size_, bits_->bits());
  if (!whole_) SortTies(0, size_, bits_->covered(), 0);
  other_ = LargeArray<OrderEntry>();
}

std::string_view RecordOrder::KeyOf(const OrderEntry& entry, std::string* buffer) const {
  return SwapKey(swap_, ReadRecord(entry.at).key, buffer);
}

void RecordOrder::SortNumbers(size_t begin, size_t end, int bits) {
  if (bits == 0) return;
  const size_t count = end - begin;
  if (count < kFewEntries) {
    std::stable_sort(entries_.data() + begin, entries_.data() + end,
                     [](const OrderEntry& a, const OrderEntry& b) { return a.number < b.number; });
    return;
  }
  const int most = count < kManyEntries ? kFewBits : kMostBitsAtOnce;
  const int passes = (bits + most - 1) / most;
  const int digit = (bits + passes - 1) / passes;
  const uint64_t mask = (uint64_t{1} << digit) - 1;
  std::array<std::array<uint32_t, size_t{1} << kMostBitsAtOnce>, kMostPasses> places;
  for (int pass = 0; pass < passes; ++pass) std::fill_n(places[pass].begin(), mask + 1, 0);
  OrderEntry* from = entries_.data() + begin;
  OrderEntry* to = other_.data() + begin;
  for (size_t i = 0; i < count; ++i) {
    uint64_t rest = from[i].number;
    for (int pass = 0; pass < passes; ++pass, rest >>= digit) ++places[pass][rest & mask];
  }
  for (int pass = 0; pass < passes; ++pass) {
    uint32_t before = 0;
    for (size_t i = 0; i <= mask; ++i) before += std::exchange(places[pass][i], before);
    const int shift = pass * digit;
    for (size_t i = 0; i < count; ++i) {
      to[places[pass][from[i].number >> shift & mask]++] = from[i];
    }
    std::swap(from, to);
  }
  if (from == entries_.data() + begin) return;
  std::memcpy(to, from, count * sizeof(OrderEntry));
}

void RecordOrder::SortTies(size_t begin, size_t end, size_t depth, int level) {
  while (begin != end) {
    size_t next = begin + 1;
    while (next != end && entries_[next].number == entries_[begin].number) ++next;
    if (next - begin > 1) SortByKeys(begin, next, depth, level);
    begin = next;
  }
}

void RecordOrder::SortByKeys(size_t begin, size_t end, size_t depth, int level) {
  if (end - begin < kFewEntries || swap_.any() || level == kMostLevels) {
    return CompareKeys(begin, end);
  }
  KeyBits::Words first{}, differ{};
  size_t longest = 0;
  const auto load = [this, depth](size_t i) {
    const std::string_view key = ReadRecord(entries_[i].at).key;
    return KeyBits::Load(key.substr(std::min(depth, key.size())));
  };
  for (size_t i = begin; i < end; ++i) {
    longest = std::max(longest, ReadRecord(entries_[i].at).key.size());
    const KeyBits::Words words = load(i);
    if (i == begin) first = words;
    for (size_t j = 0; j < words.size(); ++j) differ[j] |= words[j] ^ first[j];
  }
  // Equal, or one begins with another and zeros.
  if (longest <= depth) return CompareKeys(begin, end);
  const KeyBits bits(differ, first, {});
  for (size_t i = begin; i < end; ++i) entries_[i].number = bits.Gather(load(i));
  SortNumbers(begin, end, bits.bits());
  SortTies(begin, end, depth + bits.covered(), level + 1);
}

void RecordOrder::CompareKeys(size_t begin, size_t end) {
  std::string a_buffer, b_buffer;
  std::stable_sort(entries_.data() + begin, entries_.data() + end,
                   [&](const OrderEntry& a, const OrderEntry& b) {
                     return KeyOf(a, &a_buffer) < KeyOf(b, &b_buffer);
                   });
}

void RecordOrder::Read(size_t i, std::string_view* key, std::string_view* value) {
  const OrderEntry& entry = entries_[i];
  if (!whole_) {
    const RecordView record = ReadRecord(entry.at);
    *key = SwapKey(swap_, record.key, &swapped_);
    *value = record.value;
    return;
  }
  bits_->Expand(entry.number, window_);
  *key = std::string_view(window_, keys_.longest);
  *value = packed_             ? std::string_view(entry.value, sizeof(entry.value))
           : entry.is_inside() ? entry.inside()
                               : ReadRecord(entry.at).value;
}

}  // namespace koios::import
