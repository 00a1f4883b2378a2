// RecordSorter: records of a key and a value, added in any order and read once in the order of
// their keys' bytes (equal ones as they were added). What passes its share of the budget is sorted
// into runs, which are merged while reading. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "storage/snapshot/spill.h"

namespace koios::storage {

class RecordSorter {
 public:
  explicit RecordSorter(SpillSpace* space);
  ~RecordSorter();

  void Add(std::string_view key, std::string_view value);
  // After the last Add: at the first record.
  void Sort();
  bool Valid() const { return valid_; }
  // REQUIRES: Valid(). Until Next.
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  void Next();
  Status status() const;

 private:
  struct Record {
    size_t begin, key_bytes, value_bytes;
  };
  struct Run {
    explicit Run(SpillSpace* space) : buffer(space) {}
    SpillBuffer buffer;
    std::unique_ptr<SpillReader> reader;
    std::string key, value;
    bool Read();
  };
  void SortArena();
  void WriteRun();
  void TakeTop();
  // Runs in a heap, the smallest key first.
  bool After(size_t a, size_t b) const;

  SpillSpace* const space_;
  const size_t most_bytes_;
  std::string arena_;
  std::vector<Record> records_;
  size_t next_record_ = 0;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<size_t> heap_;
  bool valid_ = false;
  std::string_view key_, value_;
};

}  // namespace koios::storage
