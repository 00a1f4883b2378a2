// MappedFile: one snapshot file in memory, and MappedSection: a part of it that is checked before
// it is believed. Header and directory are checked when the file is opened, a block of a section
// when it is first touched. Immutable but for what has been checked; any thread.
// What is read is told to the system before (Fetch), or it fetches single pages: what it would read
// around each of them takes the memory of what is needed when a graph is larger than memory.
// Rule: nothing is ever written through the mapping. Disk rot between two reads of a block that was
// found good is not seen.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "storage/snapshot/format.h"
#include "storage/snapshot/sigbus_guard.h"

namespace koios::storage {

class MappedFile {
 public:
  // DATA_LOSS unless it is the file that `name` says, whole; gone is DATA_LOSS, too.
  static StatusOr<std::shared_ptr<const MappedFile>> Open(const std::string& folder,
                                                          uint32_t partition,
                                                          const SnapshotFileName& name);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const SnapshotHeader& header() const { return header_; }
  // Each entry is within the file that it names, as far as that is this one.
  std::span<const SectionEntry> directory() const { return directory_; }
  const char* data() const { return data_; }
  // These are about to be read: the system fetches them in large pieces.
  void Fetch(uint64_t offset, uint64_t bytes) const;

  // DATA_LOSS once anything of it was found damaged: asked after reading, before the answer is
  // used.
  Status Damage() const {
    if (!wrong_.load(std::memory_order_relaxed) && !guard_->damaged()) return OkStatus();
    return Damaged();
  }
  // Also notes it.
  Status NoteDamage() const {
    wrong_.store(true, std::memory_order_relaxed);
    return Damaged();
  }

 private:
  MappedFile(std::string label, const char* data, uint64_t bytes)
      : label_(std::move(label)), data_(data), bytes_(bytes) {
    guard_.emplace(data, AlignUp(bytes, 4096));
  }
  Status ReadDirectory(uint32_t partition, const SnapshotFileName& name);
  Status Damaged() const;

  const std::string label_;  // the file's name, without its folder
  const char* const data_;
  const uint64_t bytes_;
  mutable std::atomic<bool> wrong_{false};
  std::optional<SigbusGuard> guard_;
  SnapshotHeader header_;
  std::vector<SectionEntry> directory_;
};

class MappedSection {
 public:
  // REQUIRES: an entry of the file's own directory, or that of a newer one which was checked.
  MappedSection(std::shared_ptr<const MappedFile> file, const SectionEntry& entry);

  const SectionEntry& entry() const { return entry_; }
  const MappedFile& file() const { return *file_; }
  uint64_t rows() const { return entry_.rows; }
  uint8_t width() const { return entry_.width; }
  std::string_view bytes() const { return {file_->data() + entry_.offset, entry_.bytes}; }
  // REQUIRES: the width is T's.
  template <typename T>
  const T* As() const {
    return reinterpret_cast<const T*>(file_->data() + entry_.offset);
  }

  // All of it was found good: nothing needs to be asked.
  bool checked() const { return unchecked_.load(std::memory_order_acquire) == 0; }
  // Entries [first, first + count) may be read; else DATA_LOSS.
  Status Touch(uint64_t first, uint64_t count) const {
    if (checked() || count == 0) return OkStatus();
    const ByteRange range = RangeOf(first, count);
    return TouchBytes(range.begin, range.end);
  }
  // As Touch(first, count) of each of `num`; the system fetches them side by side. `entries_of(i)`
  // gives first and count.
  template <typename EntriesOf>
  Status TouchEach(size_t num, const EntriesOf& entries_of) const {
    if (checked()) return OkStatus();
    uint64_t last_block = ~uint64_t{0};
    for (size_t i = 0; i < num; ++i) {
      const auto [first, count] = entries_of(i);
      if (count > 0) last_block = FetchUnchecked(RangeOf(first, count), last_block);
    }
    for (size_t i = 0; i < num; ++i) {
      const auto [first, count] = entries_of(i);
      RETURN_IF_ERROR(Touch(first, count));
    }
    return OkStatus();
  }
  Status TouchAll() const { return checked() ? OkStatus() : TouchBytes(0, entry_.bytes); }
  // As checked(), but looks at all of a small one now, as a query soon reads all of its blocks.
  bool CheckedAtOnce() const {
    return checked() || (entry_.bytes <= kCheckedAtOnce && TouchAll().ok());
  }

 private:
  static constexpr uint64_t kCheckedAtOnce = 4 << 20;  // less than a millisecond

  struct ByteRange {
    uint64_t begin;
    uint64_t end;
  };
  ByteRange RangeOf(uint64_t first, uint64_t count) const {
    if (entry_.width == 0) return {first / 64 * 8, (first + count - 1) / 64 * 8 + 8};
    return {first * entry_.width, (first + count) * entry_.width};
  }
  // Fetches the range from its first block that is neither checked nor `last_block`; gives the
  // range's last block.
  uint64_t FetchUnchecked(ByteRange range, uint64_t last_block) const;
  bool IsGood(uint64_t block) const {
    return (good_[block / 64].load(std::memory_order_acquire) >> (block % 64) & 1) != 0;
  }
  Status TouchBytes(uint64_t begin, uint64_t end) const;
  Status CheckBlock(uint64_t block) const;

  std::shared_ptr<const MappedFile> file_;
  SectionEntry entry_;
  uint64_t num_blocks_;
  // Of blocks that are not known to be good.
  mutable std::atomic<uint64_t> unchecked_;
  mutable std::atomic<bool> has_checks_{false};    // the table of checks is good
  std::unique_ptr<std::atomic<uint64_t>[]> good_;  // a bit per block
};

}  // namespace koios::storage
