// A few sorted records copied out of a bin, so that what concerns many of them at once (look-ups
// in the graph that is appended to) is one call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "import/sort/bin_sorter.h"

namespace koios::import {

class RecordBatch {
 public:
  struct Record {
    std::string_view key, value;
  };

  // Replaces the content by the next records; empty at the end of the bin. Bounded in number and
  // bytes.
  Status Fill(SortedBin* bin);
  const std::vector<Record>& records() const { return records_; }

 private:
  struct Place {
    size_t key_end;
    size_t value_end;
  };
  std::string bytes_;
  std::vector<Place> places_;
  std::vector<Record> records_;
};

}  // namespace koios::import
