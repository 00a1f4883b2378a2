// SortedChanges: what came and went of a sorted set, by version: the ends of one vertex in one
// direction, or the vertices of a partition. A skip list (Pugh 1990): one thread adds, any number
// read at the same time without locks, each at a version. Memory is an arena's.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <limits>

#include "storage/delta/delta_arena.h"

namespace koios::storage {

// Members order by it.
struct ChangeKey {
  uint32_t label = 0;
  uint64_t first = 0;   // the neighbour
  uint64_t second = 0;  // the edge
  auto operator<=>(const ChangeKey&) const = default;
};

class SortedChanges {
  struct Entry;

 public:
  // What became of a member: +1, a version has it and the base below has not; -1, the other way
  // round; 0, as the base has it: what came went again, or is of a later version.
  struct Change {
    ChangeKey key;
    int difference = 0;
  };

  // Walks what ever changed, in order of the keys, each key once. A step is a step: what a version
  // does not see is not passed over unseen, so that who reads can count it, and stop.
  class Reader {
   public:
    Reader(const SortedChanges* changes, uint64_t version) : changes_(changes), version_(version) {}
    // Positions at the first change at or behind `key`.
    void Seek(const ChangeKey& key);
    bool Valid() const { return valid_; }
    const Change& change() const { return change_; }  // REQUIRES: Valid()
    void Next() { Read(next_); }

   private:
    void Read(const Entry* entry);

    const SortedChanges* changes_;
    uint64_t version_;
    const Entry* next_ = nullptr;  // behind all entries of the change at hand
    Change change_;
    bool valid_ = false;
  };

  // The member comes or goes with the version. REQUIRES: versions never descend, and it was not
  // there or was, respectively.
  void Add(const ChangeKey& key, bool added, uint64_t version, DeltaArena* arena);

 private:
  static constexpr uint32_t kMostLevels = 12;
  static constexpr uint32_t kFirstLevels = 2;

  // The newest of one key come first. The links of an entry, and of a head, stand behind it.
  struct alignas(std::atomic<Entry*>) Entry {
    ChangeKey key;
    uint64_t version = 0;
    std::atomic<bool> added{false};
    bool in_base = false;  // the member was there before all changes
    std::atomic<Entry*>* next() const {
      return reinterpret_cast<std::atomic<Entry*>*>(const_cast<Entry*>(this) + 1);
    }
  };
  // Replaced by one of more levels as the list grows; who reads from an old one finds all entries
  // that were there when he got it.
  struct alignas(std::atomic<Entry*>) Head {
    uint32_t levels = 0;
    std::atomic<Entry*>* next() const {
      return reinterpret_cast<std::atomic<Entry*>*>(const_cast<Head*>(this) + 1);
    }
  };

  const Entry* FirstAtOrBehind(const ChangeKey& key) const;
  Head* HeadFor(DeltaArena* arena);
  uint32_t NextHeight(uint32_t most);

  std::atomic<Head*> head_{nullptr};
  uint32_t size_ = 0;  // the writer's
  uint32_t random_ = 0x2545F491u;
};

}  // namespace koios::storage
