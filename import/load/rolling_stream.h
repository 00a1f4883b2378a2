// RollingStream: a sorted family on its way into files, a new file every so many records. A file
// that is being written keeps some bytes per record in memory (its filter), so its length is part
// of the memory that an import may use. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/status.h"
#include "storage/bulk_writer.h"

namespace koios::import {

class RollingStream {
 public:
  // `memory_bytes` is what the file being written may take.
  RollingStream(storage::BulkWriter* writer, storage::Family family, uint64_t memory_bytes);

  // As BulkStream.
  Status Add(std::string_view key, std::string_view value);
  Status Close();

 private:
  storage::BulkWriter* const writer_;
  const storage::Family family_;
  const uint64_t max_records_;
  uint64_t num_records_ = 0;  // in stream_
  std::unique_ptr<storage::BulkStream> stream_;
};

}  // namespace koios::import
