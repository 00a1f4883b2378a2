// BinSorter: records put aside in bins, which follow each other in the order of the keys (say, a
// bin per partition of the graph), and read back bin by bin, each sorted. Bins are independent of
// each other: any number of threads may sort and read different ones at the same time. What passes
// its share of the memory goes to a nameless temporary file, unsorted; a bin is loaded whole when
// it is opened, and one that is too large for that is sorted by merging.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/mutex.h"
#include "core/status.h"
#include "import/sort/external_sorter.h"
#include "import/sort/large_array.h"
#include "import/sort/record_chunk.h"
#include "import/sort/record_order.h"
#include "import/sort/temp_file.h"

namespace koios::import {

// The memory that the sorters of an import share. Any thread.
class SortRoom {
 public:
  // Records put aside may take `record_bytes`; those and what is opened, `all_bytes`. A bin that
  // does not fit is sorted in `merge_bytes`.
  SortRoom(std::string temp_dir, size_t record_bytes, size_t all_bytes, size_t merge_bytes)
      : temp_dir_(std::move(temp_dir)),
        record_bytes_(record_bytes),
        all_bytes_(all_bytes),
        merge_bytes_(merge_bytes) {}

  const std::string& temp_dir() const { return temp_dir_; }
  size_t record_bytes() const { return record_bytes_; }
  size_t merge_bytes() const { return merge_bytes_; }
  size_t used() const { return used_.load(std::memory_order_relaxed); }
  void Hold(size_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void Release(size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  // False, and nothing is held, when there is too little left.
  [[nodiscard]] bool TryHold(size_t bytes);

 private:
  const std::string temp_dir_;
  const size_t record_bytes_, all_bytes_, merge_bytes_;
  std::atomic<size_t> used_{0};
};

// The records of a bin in their order. One thread.
class SortedBin {
 public:
  virtual ~SortedBin() = default;
  // False at the end. Key (as it was compared) and value live until the next call.
  virtual StatusOr<bool> Next() = 0;
  // To before the first record.
  virtual Status Rewind() = 0;
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 protected:
  std::string_view key_, value_;
};

class BinSorter {
 public:
  // `most_bytes`: of records in memory; those beyond it wait in the file.
  BinSorter(SortRoom* room, size_t num_bins, size_t most_bytes);
  ~BinSorter();
  BinSorter(const BinSorter&) = delete;
  BinSorter& operator=(const BinSorter&) = delete;

  // Behind the records that the bin has. Any thread; not to a bin that is open.
  Status Add(size_t bin, RecordChunk chunk);
  // Any thread, different bins, also while records are added to others. Nothing is added to the bin
  // any more, and its records stay in memory until it is dropped.
  StatusOr<std::unique_ptr<SortedBin>> Open(size_t bin, KeySwap swap = {});
  // Frees its memory. REQUIRES: it is not open.
  void Drop(size_t bin);

  size_t num_bins() const { return bins_.size(); }
  uint64_t num_records() const;
  uint64_t spilled_bytes() const;

 private:
  struct Bin {
    std::vector<RecordChunk> chunks;
    std::vector<Run> pieces;  // of the file, before the chunks
    uint64_t num_records = 0;
    uint64_t file_bytes = 0;
    uint64_t chunk_bytes = 0;
    bool opened = false;  // who reads it reads its chunks: they stay where they are
  };
  Status Spill() KOIOS_REQUIRES(mutex_);
  Status Load(const Bin& bin, LargeArray<char>* bytes) const;
  StatusOr<std::unique_ptr<SortedBin>> OpenLarge(const Bin& bin, KeySwap swap);

  SortRoom* const room_;
  const size_t most_bytes_;
  mutable Mutex mutex_;
  std::vector<Bin> bins_;  // guarded by mutex_ while records are added
  size_t bytes_ KOIOS_GUARDED_BY(mutex_) = 0;
  uint64_t num_records_ KOIOS_GUARDED_BY(mutex_) = 0;
  uint64_t spilled_bytes_ KOIOS_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<TempFile> file_;
};

}  // namespace koios::import
