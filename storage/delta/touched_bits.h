// TouchedBits: four bits for each vertex of a partition, so that a read knows with one look that a
// delta says nothing about it. Bits are only ever set. One thread sets, any thread looks: who got a
// version sees the bits of all commits up to it, and perhaps some of later ones.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "storage/delta/delta_arena.h"

namespace koios::storage {

class TouchedBits {
 public:
  static constexpr uint8_t kOutEnds = 1;
  static constexpr uint8_t kInEnds = 2;
  static constexpr uint8_t kRecord = 4;  // added, dropped, or a property set
  static constexpr uint8_t kOutEdges =
      8;  // an out-edge was added or dropped, or its properties set
  static constexpr uint64_t kLocalsPerPage = 1024;

  uint8_t Of(uint64_t local) const {
    const Directory* const directory = directory_.load(std::memory_order_acquire);
    const uint64_t page = local / kLocalsPerPage;
    if (directory == nullptr || page >= directory->pages) return 0;
    const Word* const words = directory->at()[page].load(std::memory_order_acquire);
    if (words == nullptr) return 0;
    const uint64_t word =
        words[local % kLocalsPerPage / kLocalsPerWord].load(std::memory_order_relaxed);
    return static_cast<uint8_t>(word >> (4 * (local % kLocalsPerWord)) & 15);
  }

  void Set(uint64_t local, uint8_t bits, DeltaArena* arena) {
    Word* const words = PageOf(local / kLocalsPerPage, arena);
    Word& word = words[local % kLocalsPerPage / kLocalsPerWord];
    const uint64_t set = uint64_t{bits} << (4 * (local % kLocalsPerWord));
    word.store(word.load(std::memory_order_relaxed) | set, std::memory_order_relaxed);
  }

 private:
  using Word = std::atomic<uint64_t>;
  static constexpr uint64_t kLocalsPerWord = 16;
  static constexpr uint64_t kFirstPages = 8;

  struct Directory {
    uint64_t pages = 0;
    std::atomic<Word*>* at() const {
      return reinterpret_cast<std::atomic<Word*>*>(const_cast<Directory*>(this) + 1);
    }
  };

  Word* PageOf(uint64_t page, DeltaArena* arena) {
    const Directory* directory = directory_.load(std::memory_order_relaxed);
    if (directory == nullptr || page >= directory->pages) directory = Grow(page, arena);
    std::atomic<Word*>& at = directory->at()[page];
    Word* words = at.load(std::memory_order_relaxed);
    if (words == nullptr) {
      words = static_cast<Word*>(arena->Take(kLocalsPerPage / kLocalsPerWord * sizeof(Word)));
      at.store(words, std::memory_order_release);
    }
    return words;
  }
  const Directory* Grow(uint64_t page, DeltaArena* arena) {
    const Directory* const old = directory_.load(std::memory_order_relaxed);
    uint64_t pages = old == nullptr ? kFirstPages : 2 * old->pages;
    while (pages <= page) pages *= 2;
    auto* const grown =
        new (arena->Take(sizeof(Directory) + pages * sizeof(std::atomic<Word*>))) Directory{pages};
    for (uint64_t i = 0; old != nullptr && i < old->pages; ++i) {
      grown->at()[i].store(old->at()[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
    directory_.store(grown, std::memory_order_release);
    return grown;
  }

  std::atomic<Directory*> directory_{nullptr};
};

}  // namespace koios::storage
