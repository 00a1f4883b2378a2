// Fifo: first in, first out, in one array. An empty one has allocated nothing, and one that is
// filled and emptied over and over allocates only when it becomes longer than ever.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace koios::engine {

template <typename T>
class Fifo {
 public:
  bool empty() const { return first_ == items_.size(); }
  size_t size() const { return items_.size() - first_; }
  // Of the array; what items point to is theirs.
  size_t ByteSize() const { return items_.capacity() * sizeof(T); }
  T& front() { return items_[first_]; }
  const T& front() const { return items_[first_]; }
  T& back() { return items_.back(); }
  const T& back() const { return items_.back(); }
  T& operator[](size_t i) { return items_[first_ + i]; }
  const T& operator[](size_t i) const { return items_[first_ + i]; }
  auto begin() { return items_.begin() + static_cast<std::ptrdiff_t>(first_); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin() + static_cast<std::ptrdiff_t>(first_); }
  auto end() const { return items_.end(); }

  // Moves the items: references to them end.
  void push_back(T item) { items_.push_back(std::move(item)); }
  void pop_front() {
    if (size() == 1) {
      items_.clear();
      first_ = 0;
      return;
    }
    items_[first_++] = T();
    if (first_ >= kMostGone && 2 * first_ >= items_.size()) {
      items_.erase(items_.begin(), begin());
      first_ = 0;
    }
  }

 private:
  // Places of what has gone are given back when they are as many and half of all.
  static constexpr size_t kMostGone = 16;

  std::vector<T> items_;
  size_t first_ = 0;
};

}  // namespace koios::engine
