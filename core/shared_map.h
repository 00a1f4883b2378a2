// SharedMap: an ordered map whose copies share what none of them has changed, leaf by leaf, so that
// a copy costs a pointer and a change one leaf and a pointer per leaf. Of the form of a B+ tree of
// two levels. Each copy belongs to one thread at a time; copies that share may be of any threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace koios {

// A value that copies share until one of them changes it: a copy costs a pointer. Each copy belongs
// to one thread at a time.
template <typename T>
class CopyOnWrite {
 public:
  CopyOnWrite() : value_(std::make_shared<T>()) {}
  explicit CopyOnWrite(T value) : value_(std::make_shared<T>(std::move(value))) {}

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  // To be changed, at once: no copy is made while it is used.
  T* Mutable() {
    if (value_.use_count() > 1) value_ = std::make_shared<T>(*value_);
    return value_.get();
  }
  // The same value for certain; false: perhaps not.
  bool IsShared(const CopyOnWrite& other) const { return value_ == other.value_; }

 private:
  std::shared_ptr<T> value_;
};

// `Less` orders keys; a key and a value are cheap to move.
template <typename K, typename V, typename Less = std::less<K>>
class SharedMap {
 public:
  using value_type = std::pair<K, V>;

 private:
  static constexpr size_t kMostInLeaf = 256;
  using Leaf = std::vector<value_type>;           // in order, not empty
  using Leaves = std::vector<CopyOnWrite<Leaf>>;  // in order

 public:
  // In order of the keys; of no use once the map is changed.
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = SharedMap::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    Iterator(const Leaves* leaves, size_t leaf, size_t at)
        : leaves_(leaves), leaf_(leaf), at_(at) {}
    const value_type& operator*() const { return (*(*leaves_)[leaf_])[at_]; }
    const value_type* operator->() const { return &**this; }
    Iterator& operator++() {
      if (++at_ == (*leaves_)[leaf_]->size()) {
        ++leaf_;
        at_ = 0;
      }
      return *this;
    }
    bool operator==(const Iterator& other) const {
      return leaf_ == other.leaf_ && at_ == other.at_;
    }

   private:
    const Leaves* leaves_;
    size_t leaf_;
    size_t at_;
  };

  Iterator begin() const { return {&*leaves_, 0, 0}; }
  Iterator end() const { return {&*leaves_, leaves_->size(), 0}; }
  size_t size() const { return size_; }
  // The first entry that is not before `key`.
  Iterator lower_bound(const K& key) const {
    const size_t leaf = LeafOf(key);
    if (leaf == leaves_->size()) return end();
    return {&*leaves_, leaf, PlaceIn(*(*leaves_)[leaf], key)};
  }
  Iterator find(const K& key) const {
    const Iterator it = lower_bound(key);
    return it == end() || Less()(key, it->first) ? end() : it;
  }

  // Adds the entry, or gives that of an equal key the value.
  void Set(const K& key, V value) {
    Leaves* const leaves = leaves_.Mutable();
    if (leaves->empty()) {
      leaves->push_back(CopyOnWrite<Leaf>(Leaf{{key, std::move(value)}}));
      ++size_;
      return;
    }
    // A key behind all others belongs to the last leaf.
    const size_t at = std::min(LeafOf(key), leaves->size() - 1);
    Leaf* const leaf = (*leaves)[at].Mutable();
    const auto place = leaf->begin() + static_cast<std::ptrdiff_t>(PlaceIn(*leaf, key));
    if (place != leaf->end() && !Less()(key, place->first)) {
      place->second = std::move(value);
      return;
    }
    leaf->insert(place, {key, std::move(value)});
    ++size_;
    if (leaf->size() > kMostInLeaf) Split(leaves, at);
  }

  // Visits all entries that are not in `before`, of which this is a copy that was changed, and few
  // that are: none of leaves that the two share.
  template <typename Visit>
  void ForEachNew(const SharedMap& before, const Visit& visit) const {
    if (leaves_.IsShared(before.leaves_)) return;
    for (const CopyOnWrite<Leaf>& leaf : *leaves_) {
      const size_t same = before.LeafOf(leaf->back().first);
      if (same < before.leaves_->size() && leaf.IsShared((*before.leaves_)[same])) continue;
      for (const value_type& entry : *leaf) visit(entry);
    }
  }

  bool operator==(const SharedMap& other) const {
    return leaves_.IsShared(other.leaves_) ||
           (size_ == other.size_ && std::equal(begin(), end(), other.begin()));
  }

 private:
  // The first leaf with an entry that is not before `key`.
  size_t LeafOf(const K& key) const {
    const auto before = [&key](const CopyOnWrite<Leaf>& leaf) {
      return Less()(leaf->back().first, key);
    };
    return static_cast<size_t>(std::partition_point(leaves_->begin(), leaves_->end(), before) -
                               leaves_->begin());
  }
  static size_t PlaceIn(const Leaf& leaf, const K& key) {
    const auto before = [&key](const value_type& entry) { return Less()(entry.first, key); };
    return static_cast<size_t>(std::partition_point(leaf.begin(), leaf.end(), before) -
                               leaf.begin());
  }
  static void Split(Leaves* leaves, size_t at) {
    Leaf* const first = (*leaves)[at].Mutable();
    const auto half = first->begin() + static_cast<std::ptrdiff_t>(first->size() / 2);
    Leaf second(std::make_move_iterator(half), std::make_move_iterator(first->end()));
    first->erase(half, first->end());
    leaves->insert(leaves->begin() + static_cast<std::ptrdiff_t>(at) + 1,
                   CopyOnWrite<Leaf>(std::move(second)));
  }

  CopyOnWrite<Leaves> leaves_;
  size_t size_ = 0;
};

}  // namespace koios
