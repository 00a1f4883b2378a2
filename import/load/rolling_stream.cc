#include "import/load/rolling_stream.h"

#include <algorithm>

namespace koios::import {
namespace {

constexpr uint64_t kLeastRecords = uint64_t{1} << 17;

// What is kept per key of a file until the file is finished: of ids for the filter, else one key
// per block.
uint64_t BytesPerRecord(storage::Family family) {
  const bool has_filter =
      family == storage::Family::kVertexIds || family == storage::Family::kEdgeIds;
  return has_filter ? 8 : 1;
}

}  // namespace

RollingStream::RollingStream(storage::BulkWriter* writer, storage::Family family,
                             uint64_t memory_bytes)
    : writer_(writer),
      family_(family),
      max_records_(std::max(memory_bytes / BytesPerRecord(family), kLeastRecords)) {}

Status RollingStream::Add(std::string_view key, std::string_view value) {
  if (stream_ != nullptr && num_records_ == max_records_) RETURN_IF_ERROR(Close());
  if (stream_ == nullptr) {
    ASSIGN_OR_RETURN(stream_, writer_->OpenStream(family_));
    num_records_ = 0;
  }
  ++num_records_;
  return stream_->Add(key, value);
}

Status RollingStream::Close() {
  if (stream_ == nullptr) return OkStatus();
  Status status = stream_->Close();
  stream_.reset();
  return status;
}

}  // namespace koios::import
