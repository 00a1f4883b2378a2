// PagedList: a list that grows without moving what it has. The first page doubles, as that of
// most lists is all there is; further ones are whole.
#pragma once

#include <utility>
#include <vector>

#include "core/memory/charged_growth.h"
#include "engine/account/charge_ahead.h"

namespace koios::engine {

template <typename T>
class PagedList {
 public:
  static constexpr size_t kPage = 4096;

  size_t size() const { return size_; }
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
  std::vector<std::vector<T>> pages_;
  size_t size_ = 0;
};

}  // namespace koios::engine
