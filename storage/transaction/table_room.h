// What the tables of a transaction take, and would take with one more entry: vectors, and absl's
// flat tables, which are seven eighths full when they double, with a byte beside each slot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace koios::storage {

template <typename T>
size_t RoomOf(const std::vector<T>& table) {
  return table.capacity() * sizeof(T);
}
template <typename Table>
size_t RoomOf(const Table& table) {
  return table.capacity() * (sizeof(typename Table::value_type) + 1);
}

template <typename T>
bool IsFull(const std::vector<T>& table) {
  return table.size() == table.capacity();
}
template <typename Table>
bool IsFull(const Table& table) {
  return table.size() >= table.capacity() - table.capacity() / 8;
}

// Doubles it, or makes its first room.
template <typename T>
void Widen(std::vector<T>* table) {
  table->reserve(std::max<size_t>(2 * table->capacity(), 1));
}
template <typename Table>
void Widen(Table* table) {
  table->reserve(table->size() + 1);
}
// At most, behind that.
template <typename Table>
size_t WidenedRoomOf(const Table& table) {
  constexpr size_t kFirst = 3;  // no table begins with more
  return std::max(2 * table.capacity() + 1, kFirst) * (sizeof(typename Table::value_type) + 1);
}

}  // namespace koios::storage
