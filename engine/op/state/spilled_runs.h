// SpilledRuns: rows of a barrier that have gone to disk, in sorted runs, and their merge: at most
// kFanIn runs at once, pass by pass (balanced merge, Knuth 5.4.1). Rows carry their keys behind the
// plan's slots. Rows of equal keys come as their runs came; without keys there is one run, in the
// order of arrival, of which only the newest rows may be wanted. What has been read of the runs is
// charged. Belongs to one operator.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/numeric/int128.h"
#include "engine/batch/fifo.h"
#include "engine/op/operator.h"

namespace koios::engine {

// The keys of rows that come as they came.
inline const std::vector<plan::SortKey> kAsTheyCame;

class SpilledRuns {
 public:
  static constexpr size_t kFanIn = 64;

  // `keys` outlives this. Without keys, `newest`: the rows that came last are given, with so much
  // bulk, and older ones leave the disk.
  SpilledRuns(const std::vector<plan::SortKey>* keys, uint32_t num_slots, OperatorHost* host,
              int64_t newest = INT64_MAX)
      : keys_(keys), num_slots_(num_slots), newest_(newest), host_(host) {}
  ~SpilledRuns();
  SpilledRuns(const SpilledRuns&) = delete;
  SpilledRuns& operator=(const SpilledRuns&) = delete;

  // About as much as one Append should have: kFanIn blocks are a sixteenth of the query's memory,
  // as each worker has them, and paths take more when they are read than when they were written.
  static size_t BlockBytes(const OperatorHost& host);
  // The next rows of the run that is being written, with their keys.
  Status Append(const Batch& rows);
  void EndRun();
  // REQUIRES for these: no keys, and Merge has not begun. The rows of the i-th block, which stay on
  // disk; *charged: their bytes, which are charged.
  size_t num_blocks() const { return writing_.size(); }
  StatusOr<Batch> Read(size_t block, int64_t* charged) const;
  // A slice of the work; may give nothing. REQUIRES: `output` is empty; nothing is appended any
  // more.
  Status Merge(Batch* output, bool* done);

 private:
  struct Block {
    uint64_t at = 0;   // where it is
    int64_t bulk = 0;  // of its rows, where the newest are given; INT64_MAX: or more
  };
  using Run = Fifo<Block>;
  // A run that is being read.
  struct Cursor {
    Run blocks;  // that have not been
    Batch batch;
    size_t row = 0;
    std::vector<Value> keys;  // of `row`
    int64_t charged = 0;
  };

  Status OpenNext();
  StatusOr<bool> Load(Cursor* cursor);  // false: there is no other block
  void ReadKeys(Cursor* cursor) const;
  Status MergeSome(Batch* output);
  bool ComesBefore(uint32_t a, uint32_t b) const;
  bool KeepsNewest() const { return newest_ < INT64_MAX; }
  void DropOldest();
  void DropBlocks(const Run& run);

  const std::vector<plan::SortKey>* const keys_;
  const uint32_t num_slots_;
  const int64_t newest_;
  OperatorHost* const host_;
  Run writing_;
  absl::int128 bulk_ = 0;  // of its blocks
  std::vector<Run> runs_;  // of this pass; those before next_run_ are being merged, or have been
  size_t next_run_ = 0;
  std::vector<Run> merged_;  // of the next pass
  std::vector<Cursor> cursors_;
  std::vector<uint32_t> heap_;  // of cursors, the first one on top
  bool is_last_ = false;        // the merge that is open gives the rows
};

}  // namespace koios::engine
