// Room for more in lists and hash tables that double: charged before it is allocated, and what they
// had is given back when it is freed, so that the account has both while the entries move.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "engine/account/charge_ahead.h"

namespace koios::engine {

// Of a table of absl's (swiss tables: a control byte for each place, and a group of them behind).
template <typename Table>
int64_t TableBytes(size_t capacity) {
  constexpr size_t kGroup = 16;
  if (capacity == 0) return 0;
  return static_cast<int64_t>(capacity * (sizeof(typename Table::value_type) + 1) + kGroup);
}

// The places of a table that `entries` fit: 2^n - 1, an eighth of them stays free.
inline size_t PlacesFor(size_t entries) {
  size_t places = 7;
  while (places - places / 8 < entries) places = 2 * places + 1;
  return places;
}

// For one more entry. What entries hold outside the table is the caller's to charge.
template <typename Table>
Status MakeRoom(Table* table, ChargeAhead* charge) {
  const size_t capacity = table->capacity();
  if (table->size() < capacity - capacity / 8) return OkStatus();
  const size_t wanted = std::max<size_t>(7, table->size() + 1);
  const int64_t had = TableBytes<Table>(capacity);
  const size_t next = PlacesFor(wanted);
  RETURN_IF_ERROR(charge->Take(TableBytes<Table>(next)));
  table->reserve(wanted);
  charge->Return(TableBytes<Table>(next) - TableBytes<Table>(table->capacity()) + had);
  return OkStatus();
}

// For `more` entries.
template <typename T>
Status MakeRoom(std::vector<T>* list, size_t more, ChargeAhead* charge) {
  if (more <= list->capacity() - list->size()) return OkStatus();
  constexpr size_t kMost = size_t{1} << 60;  // far above every limit
  const size_t next = std::max(list->size() + std::min(more, kMost), 2 * list->capacity());
  const int64_t had = BytesOfMany(static_cast<int64_t>(list->capacity()), sizeof(T));
  RETURN_IF_ERROR(charge->Take(BytesOfMany(static_cast<int64_t>(next), sizeof(T))));
  list->reserve(next);
  charge->Return(had);
  return OkStatus();
}

}  // namespace koios::engine
