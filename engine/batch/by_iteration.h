// ByIteration: what is kept for each iteration of the loops around an operator, in their order. In
// a plan without loops there is one, the iteration {}: that stands here, the others in a tree.
// T::empty() says that nothing is kept of it; an emptied T is used again, with what it has
// allocated.
#pragma once

#include <cstddef>
#include <map>
#include <utility>

#include "core/memory/charged_growth.h"
#include "engine/batch/loops.h"

namespace koios::engine {

template <typename T>
class ByIteration {
 public:
  struct Entry {
    const Loops* loops = nullptr;  // null: there is none
    T* kept = nullptr;
  };

  // Nothing is kept of any. REQUIRES: what was emptied was trimmed.
  bool empty() const { return outside_.empty() && inside_.empty(); }
  // nullptr: nothing is kept of it.
  T* Find(const Loops& loops) {
    if (loops.empty()) return outside_.empty() ? nullptr : &outside_;
    const auto found = inside_.find(loops);
    return found == inside_.end() ? nullptr : &found->second;
  }
  const T* Find(const Loops& loops) const { return const_cast<ByIteration*>(this)->Find(loops); }
  // Stays where it is until it is trimmed.
  T& operator[](const Loops& loops) {
    if (loops.empty()) return outside_;
    const auto found = inside_.lower_bound(loops);
    if (found != inside_.end() && found->first == loops) return found->second;
    if (spare_.empty()) return inside_.try_emplace(found, loops)->second;
    spare_.key() = loops;
    return inside_.insert(found, std::move(spare_))->second;
  }
  // Forgets the iteration when nothing is left of it.
  void Trim(const Loops& loops) {
    if (loops.empty()) return;
    const auto found = inside_.find(loops);
    if (found != inside_.end() && found->second.empty()) spare_ = inside_.extract(found);
  }

  // Of the tree; what is kept may have allocated, and that is its own.
  size_t ByteSize() const { return inside_.size() * (sizeof(*inside_.begin()) + kTreeNodeBytes); }

  // The last that something is kept of; null: there is none.
  const Loops* Last() const {
    if (!inside_.empty()) return &inside_.rbegin()->first;
    return outside_.empty() ? nullptr : &kOutside;
  }
  // The first, or the last, for which test(loops, kept) is true.
  template <typename Test>
  Entry First(const Test& test) {
    if (!outside_.empty() && test(kOutside, outside_)) return {&kOutside, &outside_};
    for (auto& [loops, kept] : inside_) {
      if (test(loops, kept)) return {&loops, &kept};
    }
    return {};
  }
  template <typename Test>
  Entry Last(const Test& test) {
    for (auto it = inside_.rbegin(); it != inside_.rend(); ++it) {
      if (test(it->first, it->second)) return {&it->first, &it->second};
    }
    if (!outside_.empty() && test(kOutside, outside_)) return {&kOutside, &outside_};
    return {};
  }
  // use(loops, kept) for each.
  template <typename Use>
  void ForEach(const Use& use) const {
    if (!outside_.empty()) use(kOutside, outside_);
    for (const auto& [loops, kept] : inside_) use(loops, kept);
  }
  template <typename Use>
  void ForEach(const Use& use) {
    if (!outside_.empty()) use(kOutside, outside_);
    for (auto& [loops, kept] : inside_) use(loops, kept);
  }

 private:
  static inline const Loops kOutside;

  T outside_;
  std::map<Loops, T> inside_;
  typename std::map<Loops, T>::node_type spare_;  // of the iteration that was forgotten last
};

}  // namespace koios::engine
