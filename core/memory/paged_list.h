// PagedList: a list that grows without moving what it has. The first page doubles, as that of
// most lists is all there is; further ones are whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/memory/charged_growth.h"

namespace koios {

template <typename T>
class PagedList {
 public:
  static constexpr size_t kPage = 4096;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // What it has allocated, not what its items have themselves.
  int64_t Room() const {
    int64_t bytes = RoomOf(pages_);
    for (const std::vector<T>& page : pages_) bytes += RoomOf(page);
    return bytes;
  }
  T& operator[](size_t i) { return pages_[i / kPage][i % kPage]; }
  const T& operator[](size_t i) const { return pages_[i / kPage][i % kPage]; }
  T& back() { return pages_.back().back(); }

  // For one more.
  template <typename Charge>
  Status MakeRoom(Charge* charge) {
    if (pages_.size() * kPage == size_) {
      RETURN_IF_ERROR(koios::MakeRoom(&pages_, 1, charge));
      pages_.emplace_back();
    }
    std::vector<T>& last = pages_.back();
    if (last.size() < last.capacity()) return OkStatus();
    if (pages_.size() == 1 && last.capacity() < kPage / 2) {
      return koios::MakeRoom(&last, 1, charge);
    }
    const int64_t had = BytesOfMany(static_cast<int64_t>(last.capacity()), sizeof(T));
    RETURN_IF_ERROR(charge->Take(BytesOfMany(kPage, sizeof(T))));
    last.reserve(kPage);
    charge->Return(had);
    return OkStatus();
  }
  // REQUIRES: MakeRoom.
  template <typename... Args>
  void EmplaceBack(Args&&... args) {
    pages_.back().emplace_back(std::forward<Args>(args)...);
    ++size_;
  }

  // The item, `count` times or, RESOURCE_EXHAUSTED, not at all. What it holds is the caller's to
  // charge.
  template <typename Charge>
  Status Add(const T& item, int64_t count, Charge* charge) {
    // Pages are charged one by one: too many of them are refused at once.
    const int64_t room = BytesOfMany(count, sizeof(T));
    RETURN_IF_ERROR(charge->Take(room));
    charge->Return(room);
    const size_t before = size_;
    for (; count > 0; --count) {
      if (Status made = MakeRoom(charge); !made.ok()) {
        CutTo(before, charge);
        return made;
      }
      EmplaceBack(item);
    }
    return OkStatus();
  }

  // For who takes it apart.
  size_t num_pages() const { return pages_.size(); }
  std::vector<T>& page(size_t i) { return pages_[i]; }
  // Frees the last one. REQUIRES: there is one; nothing is added any more.
  std::vector<T> TakeLastPage() {
    std::vector<T> last = std::move(pages_.back());
    pages_.pop_back();
    size_ -= last.size();
    return last;
  }

 private:
  template <typename Charge>
  void CutTo(size_t size, Charge* charge) {
    while (size_ > size || (!pages_.empty() && pages_.back().empty())) {
      std::vector<T>& last = pages_.back();
      const size_t more = std::min(size_ - size, last.size());
      last.erase(last.end() - static_cast<std::ptrdiff_t>(more), last.end());
      size_ -= more;
      if (!last.empty()) continue;
      charge->Return(RoomOf(last));
      pages_.pop_back();
    }
  }

  std::vector<std::vector<T>> pages_;
  size_t size_ = 0;
};

}  // namespace koios
