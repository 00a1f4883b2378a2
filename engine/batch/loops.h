// Loops: how often each of the loops around a row has gone round, outermost first. Every run has
// one, and few are in more than two loops: so many counters stand in the object itself, deeper
// nests allocate. A value: copied, compared, hashed.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <utility>

namespace koios::engine {

class Loops {
 public:
  static constexpr uint32_t kInPlace = 3;

  Loops() = default;
  Loops(std::initializer_list<uint32_t> counters) : Loops(counters.begin(), counters.end()) {}
  template <typename Iterator>
  Loops(Iterator begin, Iterator end) {
    assign(begin, end);
  }
  Loops(const Loops& other) : size_(other.size_), words_(other.words_) {
    if (!in_place()) SetHeap(Copy(other.heap(), size_, size_));
  }
  Loops(Loops&& other) noexcept : size_(std::exchange(other.size_, 0)), words_(other.words_) {}
  Loops& operator=(const Loops& other) {
    if (this != &other) *this = Loops(other);
    return *this;
  }
  Loops& operator=(Loops&& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(words_, other.words_);
    return *this;
  }
  ~Loops() {
    if (!in_place()) delete[] heap();
  }

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  uint32_t* begin() { return in_place() ? words_.data() : heap(); }
  uint32_t* end() { return begin() + size_; }
  const uint32_t* begin() const { return in_place() ? words_.data() : heap(); }
  const uint32_t* end() const { return begin() + size_; }
  uint32_t operator[](size_t loop) const { return begin()[loop]; }
  uint32_t& back() { return end()[-1]; }
  uint32_t back() const { return end()[-1]; }

  void push_back(uint32_t counter) {
    if (size_ < kInPlace) {
      words_[size_++] = counter;
      return;
    }
    uint32_t* more = Copy(begin(), size_, size_ + 1);
    more[size_] = counter;
    if (!in_place()) delete[] heap();
    SetHeap(more);
    ++size_;
  }
  // REQUIRES: not empty.
  void pop_back() {
    if (size_ == kInPlace + 1) {
      uint32_t* all = heap();
      std::copy(all, all + kInPlace, words_.data());
      delete[] all;
    }
    --size_;
  }
  template <typename Iterator>
  void assign(Iterator begin, Iterator end) {
    while (!empty()) pop_back();
    for (; begin != end; ++begin) push_back(static_cast<uint32_t>(*begin));
  }

  bool operator==(const Loops& other) const {
    return size_ == other.size_ && std::equal(begin(), end(), other.begin());
  }
  // Counter by counter: an iteration comes after all earlier ones of its loop, whatever is in them.
  std::strong_ordering operator<=>(const Loops& other) const {
    return std::lexicographical_compare_three_way(begin(), end(), other.begin(), other.end());
  }
  template <typename Hash>
  friend Hash AbslHashValue(Hash hash, const Loops& loops) {
    return Hash::combine(Hash::combine_contiguous(std::move(hash), loops.begin(), loops.size()),
                         loops.size());
  }

 private:
  static uint32_t* Copy(const uint32_t* from, size_t size, size_t room) {
    auto* to = new uint32_t[room];
    std::copy(from, from + size, to);
    return to;
  }

  bool in_place() const { return size_ <= kInPlace; }
  uint32_t* heap() const {
    uint32_t* counters = nullptr;
    std::memcpy(&counters, words_.data(), sizeof(counters));
    return counters;
  }
  void SetHeap(uint32_t* counters) { std::memcpy(words_.data(), &counters, sizeof(counters)); }

  static_assert(kInPlace * sizeof(uint32_t) >= sizeof(uint32_t*));
  uint32_t size_ = 0;
  std::array<uint32_t, kInPlace> words_ = {};  // the counters; of more than so many: where they are
};

}  // namespace koios::engine
