// Keys of tables that grow, with their hashes beside them: a table hashes each key again whenever
// it moves it, which takes as long as a value is deep, and a look at memory for each text.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "core/value_compare.h"

namespace koios::engine {

struct HashedValue {
  explicit HashedValue(Value of) : value(std::move(of)), hash(EquivalenceHash(value)) {}

  struct Hash {
    size_t operator()(const HashedValue& key) const { return key.hash; }
  };
  struct Same {
    bool operator()(const HashedValue& a, const HashedValue& b) const {
      return a.hash == b.hash && Equivalent(a.value, b.value);
    }
  };

  Value value;
  size_t hash;
};

// A text that is somebody else's; shorter than 4 GiB, as all values are.
class HashedView {
 public:
  HashedView() = default;
  explicit HashedView(std::string_view text)
      : data_(text.data()),
        size_(static_cast<uint32_t>(text.size())),
        hash_(static_cast<uint32_t>(XXH3_64bits(text.data(), text.size()))) {}

  std::string_view text() const { return {data_, size_}; }
  uint32_t hash() const { return hash_; }
  // The same text where another one has it.
  HashedView At(std::string_view other) const {
    HashedView view = *this;
    view.data_ = other.data();
    return view;
  }

 private:
  const char* data_ = nullptr;
  uint32_t size_ = 0;
  uint32_t hash_ = 0;
};
static_assert(sizeof(HashedView) == 16);

// A text of its own, looked up by a view.
class HashedText {
 public:
  explicit HashedText(const HashedView& view)
      : data_(std::make_unique_for_overwrite<char[]>(view.text().size())),
        size_(static_cast<uint32_t>(view.text().size())),
        hash_(view.hash()) {
    view.text().copy(data_.get(), size_);
  }
  // Beside its place, in the steps in which it is allocated.
  static size_t BytesOf(std::string_view text) {
    constexpr size_t kStep = 16;
    return (text.size() + kStep - 1) / kStep * kStep;
  }

  std::string_view text() const { return {data_.get(), size_}; }
  uint32_t hash() const { return hash_; }

 private:
  std::unique_ptr<char[]> data_;
  uint32_t size_;
  uint32_t hash_;
};

// Of both.
struct TextHash {
  using is_transparent = void;
  template <typename Key>
  size_t operator()(const Key& key) const {
    return key.hash();
  }
};
struct SameText {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return a.hash() == b.hash() && a.text() == b.text();
  }
};

}  // namespace koios::engine
