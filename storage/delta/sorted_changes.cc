#include "storage/delta/sorted_changes.h"

#include <algorithm>

namespace koios::storage {

void SortedChanges::Reader::Seek(const ChangeKey& key) {
  Read(changes_ == nullptr ? nullptr : changes_->FirstAtOrBehind(key));
}

// Of the entries of one key the first that the version sees counts.
void SortedChanges::Reader::Read(const Entry* entry) {
  valid_ = entry != nullptr;
  if (!valid_) return;
  change_ = {entry->key, 0};
  bool seen = false;
  for (; entry != nullptr && entry->key == change_.key;
       entry = entry->next()[0].load(std::memory_order_acquire)) {
    if (seen || entry->version > version_) continue;
    seen = true;
    change_.difference = static_cast<int>(entry->added.load(std::memory_order_relaxed)) -
                         static_cast<int>(entry->in_base);
  }
  next_ = entry;
}

const SortedChanges::Entry* SortedChanges::FirstAtOrBehind(const ChangeKey& key) const {
  const Head* const head = head_.load(std::memory_order_acquire);
  if (head == nullptr) return nullptr;
  const std::atomic<Entry*>* links = head->next();
  for (uint32_t level = head->levels; level-- > 0;) {
    const Entry* entry = links[level].load(std::memory_order_acquire);
    while (entry != nullptr && entry->key < key) {
      links = entry->next();
      entry = links[level].load(std::memory_order_acquire);
    }
    if (level == 0) return entry;
  }
  return nullptr;
}

SortedChanges::Head* SortedChanges::HeadFor(DeltaArena* arena) {
  Head* const head = head_.load(std::memory_order_relaxed);
  const uint32_t levels = head == nullptr ? 0 : head->levels;
  // An entry is on the next level with a chance of one in four.
  if (levels > 0 && (levels == kMostLevels || size_ < uint64_t{1} << (2 * levels))) return head;
  const uint32_t more = std::min(levels + kFirstLevels, kMostLevels);
  auto* const grown =
      new (arena->Take(sizeof(Head) + more * sizeof(std::atomic<Entry*>))) Head{more};
  for (uint32_t level = 0; level < levels; ++level) {
    grown->next()[level].store(head->next()[level].load(std::memory_order_relaxed),
                               std::memory_order_relaxed);
  }
  head_.store(grown, std::memory_order_release);
  return grown;
}

uint32_t SortedChanges::NextHeight(uint32_t most) {
  uint32_t height = 1;
  while (height < most) {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    if ((random_ & 3) != 0) break;
    ++height;
  }
  return height;
}

void SortedChanges::Add(const ChangeKey& key, bool added, uint64_t version, DeltaArena* arena) {
  Head* const head = HeadFor(arena);
  std::atomic<Entry*>* before[kMostLevels] = {};
  std::atomic<Entry*>* links = head->next();
  for (uint32_t level = head->levels; level-- > 0;) {
    Entry* entry = links[level].load(std::memory_order_relaxed);
    while (entry != nullptr && entry->key < key) {
      links = entry->next();
      entry = links[level].load(std::memory_order_relaxed);
    }
    before[level] = &links[level];
  }
  Entry* const newest = before[0]->load(std::memory_order_relaxed);
  const bool known = newest != nullptr && newest->key == key;
  if (known && newest->version == version) {
    // Nobody can see the version yet.
    newest->added.store(added, std::memory_order_relaxed);
    return;
  }
  const uint32_t height = NextHeight(head->levels);
  auto* const entry =
      new (arena->Take(sizeof(Entry) + height * sizeof(std::atomic<Entry*>))) Entry{key, version};
  entry->added.store(added, std::memory_order_relaxed);
  entry->in_base = known ? newest->in_base : !added;
  for (uint32_t level = 0; level < height; ++level) {
    entry->next()[level].store(before[level]->load(std::memory_order_relaxed),
                               std::memory_order_relaxed);
    before[level]->store(entry, std::memory_order_release);
  }
  ++size_;
}

}  // namespace koios::storage
