// LargeArray: an array of plain numbers that is read and written all over. What is large lies in
// huge pages where the kernel gives them: finding small pages takes longer than the work on them.
// All bytes are zero at first.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace koios::import {

template <typename T>
class LargeArray {
 public:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  LargeArray() = default;
  // Throws std::bad_alloc as new does.
  explicit LargeArray(size_t size) : size_(size) {
    if (size == 0) return;
    void* const at = mmap(nullptr, Bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                          /*fd=*/-1, /*offset=*/0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    // A wish: where it is refused pages are small.
    if (Bytes() >= kHugeBytes) madvise(at, Bytes(), MADV_HUGEPAGE);
    data_ = static_cast<T*>(at);
  }
  ~LargeArray() {
    if (data_ != nullptr) munmap(data_, Bytes());
  }
  LargeArray(LargeArray&& other) noexcept { swap(other); }
  LargeArray& operator=(LargeArray&& other) noexcept {
    swap(other);
    return *this;
  }
  void swap(LargeArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  size_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }

 private:
  static constexpr size_t kHugeBytes = size_t{2} << 20;
  size_t Bytes() const { return size_ * sizeof(T); }

  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace koios::import
