#include "import/load/id_table.h"

#include <xxhash.h>

#include <algorithm>

#include "storage/codec/element_id.h"

namespace koios::import {
namespace {

// A table by number has at most this many places per number in use.
constexpr uint64_t kDenseShare = 3;
// What a text costs besides its bytes: node, string, bucket.
constexpr uint64_t kTextBytes = 96;

}  // namespace

uint32_t IdSpaces::Find(std::string_view name) const {
  const auto found = std::lower_bound(names_.begin(), names_.end(), name);
  if (found == names_.end() || *found != name) return 0;
  return static_cast<uint32_t>(found - names_.begin()) + 1;
}

// A number has no colon, so the last one ends the space.
IdName IdName::Text(std::string_view id, const IdSpaces& spaces) {
  const size_t colon = id.rfind(':');
  if (colon != std::string_view::npos) {
    const uint32_t space = spaces.Find(id.substr(0, colon));
    const auto number = space == 0 ? std::nullopt : storage::CanonicalDecimal(id.substr(colon + 1));
    if (number) return Number(space, *number);
  }
  return {0, false, 0, id};
}

IdName IdName::OfBytes(std::string_view id_bytes, const IdSpaces& spaces) {
  if (const auto number = storage::NumberOfIdBytes(id_bytes)) return Number(0, *number);
  return Text(id_bytes.substr(1), spaces);
}

void IdCounts::OfSpace::Add(const OfSpace& other) {
  if (other.numbers == 0) return;
  least = numbers == 0 ? other.least : std::min(least, other.least);
  largest = numbers == 0 ? other.largest : std::max(largest, other.largest);
  numbers += other.numbers;
}

void IdCounts::Note(const IdName& id) {
  if (!id.is_number) {
    ++texts;
    text_bytes += id.text.size();
    return;
  }
  if (id.space >= spaces.size()) spaces.resize(id.space + 1);
  spaces[id.space].Add({1, id.number, id.number});
}

void IdCounts::Add(const IdCounts& other) {
  if (spaces.size() < other.spaces.size()) spaces.resize(other.spaces.size());
  for (size_t i = 0; i < other.spaces.size(); ++i) spaces[i].Add(other.spaces[i]);
  texts += other.texts;
  text_bytes += other.text_bytes;
}

bool IdTable::IsDense(const IdCounts::OfSpace& counts) {
  const uint64_t span = static_cast<uint64_t>(counts.largest) - static_cast<uint64_t>(counts.least);
  return counts.numbers > 0 && span / kDenseShare < counts.numbers;
}

uint64_t IdTable::BytesFor(const IdCounts& counts) {
  uint64_t bytes = counts.texts * kTextBytes + counts.text_bytes;
  for (const IdCounts::OfSpace& space : counts.spaces) {
    bytes += IsDense(space) ? (kDenseShare * space.numbers + 1) * sizeof(uint64_t)
                            : SlotsFor(space.numbers) * sizeof(Slot);
  }
  return bytes;
}

IdTable::IdTable(const IdCounts& counts) {
  for (const IdCounts::OfSpace& space : counts.spaces) {
    Numbers& numbers = numbers_.emplace_back();
    numbers.dense = IsDense(space);
    numbers.least = space.least;
    if (numbers.dense) {
      numbers.vertices = LargeArray<uint64_t>(static_cast<uint64_t>(space.largest) -
                                              static_cast<uint64_t>(space.least) + 1);
      std::fill(numbers.vertices.begin(), numbers.vertices.end(), kNone);
    } else {
      numbers.slots = LargeArray<Slot>(SlotsFor(space.numbers));
      std::fill(numbers.slots.begin(), numbers.slots.end(), Slot());
    }
  }
  texts_.reserve(counts.texts);
}

size_t IdTable::Begin(int64_t number, size_t num_slots) {
  const uint64_t hash = static_cast<uint64_t>(number) * 0x9E3779B97F4A7C15ull;
  const uint64_t mixed = (hash ^ (hash >> 32)) * 0xD6E8FEB86659FD93ull;
  return static_cast<size_t>((static_cast<unsigned __int128>(mixed) * num_slots) >> 64);
}

size_t IdTable::TextHash::operator()(std::string_view text) const {
  return XXH3_64bits(text.data(), text.size());
}

void IdTable::Insert(const IdName& id, VertexRef vertex) {
  if (!id.is_number) {
    MutexLock lock(&mutex_);
    texts_.emplace(id.text, vertex);
    return;
  }
  Numbers& numbers = numbers_[id.space];
  if (numbers.dense) {
    numbers.vertices[static_cast<uint64_t>(id.number) - static_cast<uint64_t>(numbers.least)] =
        vertex.bits;
    return;
  }
  LargeArray<Slot>& slots = numbers.slots;
  for (size_t at = Begin(id.number, slots.size());; at = at + 1 == slots.size() ? 0 : at + 1) {
    uint64_t none = kNone;
    std::atomic_ref<uint64_t> taken(slots[at].vertex);
    if (taken.load(std::memory_order_relaxed) != kNone) continue;
    if (!taken.compare_exchange_strong(none, vertex.bits, std::memory_order_relaxed)) continue;
    slots[at].number = id.number;
    return;
  }
}

std::optional<VertexRef> IdTable::Find(const IdName& id) const {
  if (!id.is_number) {
    const auto found = texts_.find(id.text);
    return found == texts_.end() ? std::nullopt : std::optional<VertexRef>(found->second);
  }
  if (id.space >= numbers_.size()) return std::nullopt;
  const Numbers& numbers = numbers_[id.space];
  if (numbers.dense) {
    const uint64_t at = static_cast<uint64_t>(id.number) - static_cast<uint64_t>(numbers.least);
    if (at >= numbers.vertices.size() || numbers.vertices[at] == kNone) return std::nullopt;
    return VertexRef{numbers.vertices[at]};
  }
  const LargeArray<Slot>& slots = numbers.slots;
  for (size_t at = Begin(id.number, slots.size());; at = at + 1 == slots.size() ? 0 : at + 1) {
    if (slots[at].vertex == kNone) return std::nullopt;
    if (slots[at].number == id.number) return VertexRef{slots[at].vertex};
  }
}

void IdTable::Prefetch(const IdName& id) const {
  if (!id.is_number || id.space >= numbers_.size()) return;
  const Numbers& numbers = numbers_[id.space];
  if (!numbers.dense) {
    __builtin_prefetch(&numbers.slots[Begin(id.number, numbers.slots.size())]);
    return;
  }
  const uint64_t at = static_cast<uint64_t>(id.number) - static_cast<uint64_t>(numbers.least);
  if (at < numbers.vertices.size()) __builtin_prefetch(&numbers.vertices[at]);
}

}  // namespace koios::import
