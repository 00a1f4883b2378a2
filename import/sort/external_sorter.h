// ExternalSorter: sorts any number of (key, value) records by key bytes in bounded memory. Records
// fill one buffer; a full buffer is sorted and written as a run; at the end the runs are merged, in
// several passes when there are more than the merge's memory has read buffers for.
// The sort is stable: records of equal keys come out in the order they came in.
// One thread at a time. (Knuth, TAOCP 3, 5.4: balanced merge with replacement left out.)
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "import/sort/temp_file.h"

namespace koios::import {

struct SortOptions {
  std::string temp_dir;
  size_t build_bytes = size_t{64} << 20;  // while records come in
  size_t merge_bytes = size_t{16} << 20;  // while they go out
};

class ExternalSorter {
 public:
  explicit ExternalSorter(const SortOptions& options);
  ~ExternalSorter();

  // RESOURCE_EXHAUSTED for a record that does not fit the buffer.
  Status Add(std::string_view key, std::string_view value);
  // No Add after it; Next after it.
  Status Finish();
  // False at the end. Key and value live until the next call.
  StatusOr<bool> Next();
  // To before the first record. After Finish.
  Status Rewind();
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

  uint64_t num_records() const { return num_records_; }
  uint64_t num_runs() const { return num_runs_; }
  uint64_t spilled_bytes() const { return spilled_bytes_; }

 private:
  // A record in buffer_: its first key bytes as a number, and where it is.
  struct Entry {
    uint64_t prefix;
    uint64_t at;
  };
  struct Record {
    std::string_view key, value;
  };

  Record RecordAt(uint64_t at) const;
  void SortEntries();
  Status Spill();
  Status MergeToFanIn(size_t fan_in);
  Status StartMerge(const std::vector<Run>& runs);
  void ReleaseBuffer();
  bool Less(size_t a, size_t b) const;  // readers
  void SiftDown(size_t slot);
  StatusOr<bool> NextMerged();

  SortOptions options_;
  std::unique_ptr<char[]> buffer_;  // records from the front, entries from the back
  size_t front_ = 0;
  std::vector<Run> runs_;
  std::unique_ptr<TempFile> file_;
  uint64_t num_records_ = 0;
  uint64_t num_runs_ = 0;
  uint64_t spilled_bytes_ = 0;

  size_t num_entries_ = 0;
  Entry* entries_ = nullptr;  // the first of num_entries_ at the end of buffer_
  size_t next_entry_ = 0;     // when everything is in memory
  std::vector<std::unique_ptr<RunReader>> readers_;
  std::vector<size_t> heap_;  // of readers that have a record
  bool merging_ = false;
  bool advance_top_ = false;
  std::string_view key_, value_;
};

}  // namespace koios::import
