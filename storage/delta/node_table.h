// NodeTable: finds nodes by a hash. One thread adds, any number of threads look at the same time
// without locks; nothing is ever taken out. A table that grows is copied, and those who look in the
// old one find what was there when they got it.
// A node is a type with a `hash`, and `bool Is(key) const`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "storage/delta/delta_arena.h"

namespace koios::storage {

template <typename Node>
class NodeTable {
 public:
  template <typename Key>
  Node* Find(uint64_t hash, const Key& key) const {
    const Slots* const slots = slots_.load(std::memory_order_acquire);
    if (slots == nullptr) return nullptr;
    for (uint64_t at = hash & slots->mask;; at = (at + 1) & slots->mask) {
      Node* const node = slots->nodes()[at].load(std::memory_order_acquire);
      if (node == nullptr) return nullptr;
      if (node->hash == hash && node->Is(key)) return node;
    }
  }
  // Whoever finds the node sees what is in it now. REQUIRES: no node of its key is there.
  void Add(Node* node, DeltaArena* arena) {
    if (2 * (size_ + 1) > capacity_) Grow(arena);
    Put(slots_.load(std::memory_order_relaxed), node);
    ++size_;
  }
  bool empty() const { return slots_.load(std::memory_order_relaxed) == nullptr; }

 private:
  static constexpr size_t kFirstCapacity = 8;

  struct Slots {
    uint64_t mask = 0;
    std::atomic<Node*>* nodes() const {
      return reinterpret_cast<std::atomic<Node*>*>(const_cast<Slots*>(this) + 1);
    }
  };

  static void Put(Slots* slots, Node* node) {
    uint64_t at = node->hash & slots->mask;
    while (slots->nodes()[at].load(std::memory_order_relaxed) != nullptr) {
      at = (at + 1) & slots->mask;
    }
    slots->nodes()[at].store(node, std::memory_order_release);
  }
  void Grow(DeltaArena* arena) {
    const Slots* const old = slots_.load(std::memory_order_relaxed);
    const size_t capacity = old == nullptr ? kFirstCapacity : 2 * capacity_;
    auto* const grown = new (arena->Take(sizeof(Slots) + capacity * sizeof(std::atomic<Node*>)))
        Slots{capacity - 1};
    for (size_t at = 0; at < capacity_; ++at) {
      Node* const node = old->nodes()[at].load(std::memory_order_relaxed);
      if (node != nullptr) Put(grown, node);
    }
    capacity_ = capacity;
    slots_.store(grown, std::memory_order_release);
  }

  std::atomic<Slots*> slots_{nullptr};
  size_t capacity_ = 0, size_ = 0;  // the writer's
};

// Of a number; a multiply and a fold.
inline uint64_t HashOfNumber(uint64_t number) {
  const uint64_t mixed = number * 0x9E3779B97F4A7C15ull;
  return mixed ^ (mixed >> 32);
}

}  // namespace koios::storage
