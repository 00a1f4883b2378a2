// BinWriter: records of one thread on their way to the bins of a sorter, handed on in chunks.
// Rule: records for one bin arrive in the order in which they were added.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "core/status.h"
#include "import/sort/bin_sorter.h"

namespace koios::import {

class BinWriter {
 public:
  BinWriter(BinSorter* sorter, size_t chunk_bytes)
      : sorter_(sorter), chunk_bytes_(chunk_bytes), chunks_(sorter->num_bins()) {}

  Status Add(size_t bin, std::string_view key, std::string_view value) {
    chunks_[bin].Add(key, value);
    return chunks_[bin].bytes().size() < chunk_bytes_ ? OkStatus() : Flush(bin);
  }
  // After the last Add.
  Status Finish() {
    for (size_t bin = 0; bin < chunks_.size(); ++bin) RETURN_IF_ERROR(Flush(bin));
    return OkStatus();
  }

 private:
  Status Flush(size_t bin) { return sorter_->Add(bin, std::exchange(chunks_[bin], {})); }

  BinSorter* const sorter_;
  const size_t chunk_bytes_;
  std::vector<RecordChunk> chunks_;
};

}  // namespace koios::import
