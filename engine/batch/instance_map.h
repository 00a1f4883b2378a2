// InstanceMap: values by instance. What entered a scope together has consecutive serials, so values
// stand in pages of so many serials, at their offset: a look-up is an index as long as it stays in
// the page of the one before. Where a worker meets few of the instances (their home is another
// one), a page holds few values; pages are found in a tree, so that this is right, too.
// Values stay where they are until they are erased. Their order is that of (home, serial).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "absl/container/btree_map.h"
#include "engine/batch/batch.h"

namespace koios::engine {

template <typename T>
class InstanceMap {
 public:
  InstanceMap() = default;
  InstanceMap(const InstanceMap&) = delete;
  InstanceMap& operator=(const InstanceMap&) = delete;

  bool empty() const { return pages_.empty(); }
  // nullptr: there is none.
  T* Find(const InstanceId& instance) {
    Page* page = FindPage(instance);
    const size_t offset = OffsetOf(instance);
    return page != nullptr && page->Has(offset) ? page->At(offset) : nullptr;
  }
  const T* Find(const InstanceId& instance) const {
    return const_cast<InstanceMap*>(this)->Find(instance);
  }
  // The value, made from `args` when there was none; whether it is new.
  template <typename... Args>
  std::pair<T*, bool> FindOrMake(const InstanceId& instance, Args&&... args) {
    Page* page = FindPage(instance);
    if (page == nullptr) page = AddPage(instance);
    const size_t offset = OffsetOf(instance);
    if (page->Has(offset)) return {page->At(offset), false};
    T* made = new (page->Place(offset)) T(std::forward<Args>(args)...);
    page->used |= uint64_t{1} << offset;
    return {made, true};
  }
  void Erase(const InstanceId& instance) {
    Page* page = FindPage(instance);
    const size_t offset = OffsetOf(instance);
    if (page == nullptr || !page->Has(offset)) return;
    page->At(offset)->~T();
    page->used &= ~(uint64_t{1} << offset);
    if (page->used != 0) return;
    last_ = nullptr;
    const auto found = pages_.find(KeyOf(instance));
    spare_ = std::move(found->second);
    pages_.erase(found);
  }
  // Of the map; what values point to is theirs.
  size_t ByteSize() const { return pages_.size() * (sizeof(Page) + kTreeBytes); }
  void Clear() {
    last_ = nullptr;
    pages_.clear();
  }
  // use(value) for each.
  template <typename Use>
  void ForEach(const Use& use) {
    for (auto& [key, page] : pages_) {
      for (uint64_t left = page->used; left != 0; left &= left - 1) {
        use(*page->At(static_cast<size_t>(std::countr_zero(left))));
      }
    }
  }

 private:
  static constexpr uint64_t kPageSize = 64;
  static constexpr size_t kTreeBytes = 32;  // of a page, about

  struct Page {
    ~Page() {
      for (uint64_t left = used; left != 0; left &= left - 1) {
        At(static_cast<size_t>(std::countr_zero(left)))->~T();
      }
    }
    bool Has(size_t offset) const { return (used >> offset & 1) != 0; }
    std::byte* Place(size_t offset) { return bytes + offset * sizeof(T); }
    T* At(size_t offset) { return std::launder(reinterpret_cast<T*>(Place(offset))); }

    uint64_t used = 0;  // a bit for each offset
    alignas(T) std::byte bytes[kPageSize * sizeof(T)];
  };

  static InstanceId KeyOf(const InstanceId& instance) {
    return {instance.home, instance.serial / kPageSize};
  }
  static size_t OffsetOf(const InstanceId& instance) { return instance.serial % kPageSize; }

  Page* FindPage(const InstanceId& instance) {
    const InstanceId key = KeyOf(instance);
    if (last_ != nullptr && last_key_ == key) return last_;
    const auto found = pages_.find(key);
    if (found == pages_.end()) return nullptr;
    last_key_ = key;
    return last_ = found->second.get();
  }
  Page* AddPage(const InstanceId& instance) {
    std::unique_ptr<Page> page = std::move(spare_);
    // Not make_unique, which would fill the values' places with zeros.
    if (page == nullptr) page.reset(new Page);
    last_key_ = KeyOf(instance);
    last_ = page.get();
    pages_.emplace(last_key_, std::move(page));
    return last_;
  }

  absl::btree_map<InstanceId, std::unique_ptr<Page>> pages_;  // none empty
  std::unique_ptr<Page> spare_;  // an empty one: where instances come one after the other
  InstanceId last_key_;          // the page that was looked up last
  Page* last_ = nullptr;
};

}  // namespace koios::engine
