// Room for more in lists and hash tables that double: charged before it is allocated, and what they
// had is given back when it is freed, so that both are charged while the entries move. `charge` has
// Status Take(int64_t bytes), before something grows, and void Return(int64_t bytes).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/status.h"

namespace koios {

// count * bytes; far above every limit instead of an overflow. REQUIRES: neither is negative.
inline int64_t BytesOfMany(int64_t count, int64_t bytes) {
  constexpr int64_t kMost = int64_t{1} << 60;
  return bytes != 0 && count > kMost / bytes ? kMost : count * bytes;
}

// For what somebody has answered for already.
struct Uncharged {
  Status Take(int64_t) { return OkStatus(); }
  void Return(int64_t) {}
};

// For what somebody answers for in one sum.
struct Counted {
  int64_t bytes = 0;
  Status Take(int64_t more) {
    bytes += more;
    return OkStatus();
  }
  void Return(int64_t less) { bytes -= less; }
};

// Of a table of absl's (swiss tables: a control byte for each place, and a group of them behind).
template <typename Table>
int64_t TableBytes(size_t capacity) {
  constexpr size_t kGroup = 16;
  if (capacity == 0) return 0;
  return static_cast<int64_t>(capacity * (sizeof(typename Table::value_type) + 1) + kGroup);
}

// Of an entry of a std::map beside its value: its links, and what the allocator adds.
constexpr size_t kTreeNodeBytes = 48;

// What a list or a table has allocated for its entries, not what these have themselves.
template <typename T>
int64_t RoomOf(const std::vector<T>& list) {
  return BytesOfMany(static_cast<int64_t>(list.capacity()), sizeof(T));
}
template <typename Table>
int64_t RoomOf(const Table& table) {
  return TableBytes<Table>(table.capacity());
}

// The places of a table that `entries` fit: 2^n - 1, an eighth of them stays free.
inline size_t PlacesFor(size_t entries) {
  size_t places = 7;
  while (places - places / 8 < entries) places = 2 * places + 1;
  return places;
}

// For one more entry. What entries hold outside the table is the caller's to charge.
template <typename Table, typename Charge>
Status MakeRoom(Table* table, Charge* charge) {
  const size_t capacity = table->capacity();
  if (table->size() < capacity - capacity / 8) return OkStatus();
  const size_t wanted = std::max<size_t>(7, table->size() + 1);
  const int64_t had = RoomOf(*table);
  const int64_t next = TableBytes<Table>(PlacesFor(wanted));
  RETURN_IF_ERROR(charge->Take(next));
  table->reserve(wanted);
  charge->Return(next - RoomOf(*table) + had);
  return OkStatus();
}

// For `more` entries.
template <typename T, typename Charge>
Status MakeRoom(std::vector<T>* list, size_t more, Charge* charge) {
  if (more <= list->capacity() - list->size()) return OkStatus();
  constexpr size_t kMost = size_t{1} << 60;  // far above every limit
  const size_t next = std::max(list->size() + std::min(more, kMost), 2 * list->capacity());
  const int64_t had = RoomOf(*list);
  RETURN_IF_ERROR(charge->Take(BytesOfMany(static_cast<int64_t>(next), sizeof(T))));
  list->reserve(next);
  charge->Return(had);
  return OkStatus();
}

}  // namespace koios
