// SpillSpace: where queries put rows that do not fit into their memory. Its files have no names, so
// that they are gone with the query or with the process, whatever happens. Thread-safe; a file
// belongs to one query on one worker.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/status.h"

namespace koios::engine {

class SpillFile;

class SpillSpace {
 public:
  // `limit_bytes`: of all files together. `reserve_bytes`: of the disk, stays free.
  explicit SpillSpace(std::string folder, uint64_t limit_bytes = UINT64_MAX,
                      uint64_t reserve_bytes = 0)
      : folder_(std::move(folder)), limit_(limit_bytes), reserve_(reserve_bytes) {}

  // Removes what one left that was killed as it made a file, where files need a name for a moment.
  // A younger one may be another process's.
  void Sweep() const;
  static constexpr auto kLeftBehind = std::chrono::minutes(1);
  // RESOURCE_EXHAUSTED or UNAVAILABLE, naming the folder and the setting. `of_query`: what all
  // files of its query take, which is half of the limit at most, so that one leaves room for the
  // others; null: it is of none. Outlives the file.
  StatusOr<std::unique_ptr<SpillFile>> Open(std::atomic<uint64_t>* of_query = nullptr);
  // The folder can be written and has room by far; it is looked at once a second. Who need not go
  // there does not where it is not so: a disk that fails ends a query.
  bool CanWrite() const;
  // And with so many bytes more half of what may be used is free: they are within a query's half.
  bool is_ample(uint64_t more_bytes = 0) const {
    return used() <= limit_ / 2 && more_bytes <= limit_ / 2 - used() && CanWrite();
  }
  // Who sees that there is none left may let the space go.
  uint64_t used() const { return used_.load(std::memory_order_acquire); }
  // For tests: from the k-th write on all fail, as on a full disk.
  void FailFromWrite(uint64_t k) { fail_from_ = k; }
  // Likewise for reads, as of a damaged disk.
  void FailFromRead(uint64_t k) { fail_read_from_ = k; }

 private:
  friend class SpillFile;
  Status Take(uint64_t bytes, std::atomic<uint64_t>* of_query);
  void Return(uint64_t bytes, std::atomic<uint64_t>* of_query);

  const std::string folder_;
  const uint64_t limit_, reserve_;
  std::atomic<uint64_t> used_{0};
  mutable std::atomic<int64_t> look_again_ns_{0};
  mutable std::atomic<bool> can_write_{false};  // as of the last look
  std::atomic<uint64_t> writes_{0};
  std::atomic<uint64_t> reads_{0};
  uint64_t fail_from_ = UINT64_MAX;
  uint64_t fail_read_from_ = UINT64_MAX;
};

// Blocks of bytes, compressed and checked, each until it is taken or dropped. Outlived by its
// space.
class SpillFile {
 public:
  SpillFile(SpillSpace* space, int fd, std::atomic<uint64_t>* of_query)
      : space_(space), fd_(fd), of_query_(of_query) {}
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // Where the block stands. RESOURCE_EXHAUSTED when the space or the disk is full.
  StatusOr<uint64_t> Append(std::string_view block);
  // The block, whose room is free from now on. DATA_LOSS when it is not what was written.
  StatusOr<std::string> Take(uint64_t at);
  // As this, but it stays.
  StatusOr<std::string> Read(uint64_t at) const;
  // A block that nobody will take.
  void Drop(uint64_t at);
  // All blocks of [begin, end), at once: of small ones more room is free so, as disks give it in
  // pages. REQUIRES: begin is where a block stands, end the end() behind one, all are still there.
  void DropRange(uint64_t begin, uint64_t end);
  uint64_t end() const { return end_; }
  // What it has of the disk, by the file system.
  uint64_t BytesOnDisk() const;
  uint64_t written() const { return written_; }  // bytes, since the beginning

 private:
  struct Head {
    uint32_t stored = 0;
    uint32_t raw = 0;
    uint64_t check = 0;  // XXH3 of what is stored and of `raw`
  };
  StatusOr<Head> HeadAt(uint64_t at) const;
  void Free(uint64_t at, uint64_t bytes);

  SpillSpace* const space_;
  const int fd_;
  std::atomic<uint64_t>* const of_query_;
  uint64_t end_ = 0;   // where the next block goes
  uint64_t live_ = 0;  // bytes of blocks that are still to be taken
  uint64_t written_ = 0;
  uint32_t largest_ = 0;  // of what is stored of blocks
  // Ranges that nobody has any more, begin to end: a disk gives pages, of which many blocks may
  // have a part. Neither has a neighbour here, so that there are no more than blocks are left.
  std::map<uint64_t, uint64_t> free_;
};

}  // namespace koios::engine
