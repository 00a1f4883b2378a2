// PartedTable: a hash table of absl's that grows in pieces. Doubling a table of a million entries
// keeps a worker for tens of milliseconds, and takes the memory of both; so a table that has become
// large is taken apart by the hashes of its keys, and each part doubles by itself.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/memory/charged_growth.h"
#include "engine/account/charge_ahead.h"

namespace koios::engine {

template <typename Table>
class PartedTable {
 public:
  static constexpr size_t kParts = 64;
  // Of the only part: with more it is taken apart.
  static constexpr size_t kMostPlaces = (size_t{1} << 15) - 1;

  // nullptr: it is not there.
  template <typename Key>
  const typename Table::value_type* Find(const Key& key) const {
    const Table& part = PartOf(key);
    const auto found = part.find(key);
    return found == part.end() ? nullptr : &*found;
  }
  template <typename Key>
  bool Contains(const Key& key) const {
    return PartOf(key).contains(key);
  }
  bool empty() const { return one_.empty() && parts_.empty(); }

  // For one more entry, of this key. What entries hold outside the table is the caller's to charge.
  template <typename Key>
  Status MakeRoom(const Key& key, ChargeAhead* charge) {
    if (parts_.empty() && one_.capacity() >= kMostPlaces && IsFull(one_)) {
      RETURN_IF_ERROR(TakeApart(charge));
    }
    return koios::MakeRoom(&PartOf(key), charge);
  }
  // REQUIRES: MakeRoom(key), and it is not there.
  template <typename Key, typename... Args>
  void Emplace(const Key& key, Args&&... args) {
    PartOf(key).emplace(key, std::forward<Args>(args)...);
  }

  // Where somebody is who looks at all entries.
  class Walk {
   private:
    friend class PartedTable;
    bool begun_ = false;
    size_t part_ = 0;
    typename Table::const_iterator at_;
  };
  // Calls use(entry) for the next ones, `most` at most. False: there is none left. REQUIRES:
  // nothing changes in between.
  template <typename Use>
  bool WalkSome(Walk* walk, size_t most, const Use& use) const {
    const size_t parts = parts_.empty() ? 1 : kParts;
    size_t left = most;
    while (walk->part_ < parts && left > 0) {
      const Table& part = parts_.empty() ? one_ : parts_[walk->part_];
      if (!walk->begun_) walk->at_ = part.begin();
      walk->begun_ = true;
      for (; left > 0 && walk->at_ != part.end(); --left) use(*walk->at_++);
      if (walk->at_ != part.end()) break;
      ++walk->part_;
      walk->begun_ = false;
    }
    return left < most;
  }

 private:
  static bool IsFull(const Table& table) {
    return table.size() >= table.capacity() - table.capacity() / 8;
  }
  // The highest bits: absl looks for places by the lowest.
  template <typename Key>
  size_t NumberOf(const Key& key) const {
    constexpr uint64_t kMix = 0x9E3779B97F4A7C15;
    return static_cast<size_t>(uint64_t{one_.hash_function()(key)} * kMix >> 58);
  }
  template <typename Key>
  const Table& PartOf(const Key& key) const {
    return parts_.empty() ? one_ : parts_[NumberOf(key)];
  }
  template <typename Key>
  Table& PartOf(const Key& key) {
    return parts_.empty() ? one_ : parts_[NumberOf(key)];
  }
  static const auto& KeyOf(const typename Table::value_type& entry) {
    if constexpr (requires { typename Table::mapped_type; }) {
      return entry.first;
    } else {
      return entry;
    }
  }

  Status TakeApart(ChargeAhead* charge) {
    static_assert(kParts == 64, "NumberOf takes 6 bits");
    std::array<size_t, kParts> sizes{};
    for (const auto& entry : one_) ++sizes[NumberOf(KeyOf(entry))];
    int64_t wanted = kParts * sizeof(Table);
    for (const size_t size : sizes) wanted += TableBytes<Table>(PlacesFor(size + 1));
    RETURN_IF_ERROR(charge->Take(wanted));
    int64_t has = kParts * sizeof(Table);
    std::vector<Table> parts(kParts);
    for (size_t i = 0; i < kParts; ++i) {
      parts[i].reserve(sizes[i] + 1);
      has += TableBytes<Table>(parts[i].capacity());
    }
    charge->Return(wanted - has);
    for (auto it = one_.begin(); it != one_.end();) {
      Table& part = parts[NumberOf(KeyOf(*it))];
      part.insert(one_.extract(it++));
    }
    charge->Return(TableBytes<Table>(one_.capacity()));
    one_ = Table();
    parts_ = std::move(parts);
    return OkStatus();
  }

  Table one_;
  std::vector<Table> parts_;  // by the hash of the key; empty: `one_` has all
};

}  // namespace koios::engine
