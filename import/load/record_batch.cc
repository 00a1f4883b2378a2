#include "import/load/record_batch.h"

namespace koios::import {
namespace {

constexpr size_t kMaxRecords = 1024;
constexpr size_t kMaxBytes = size_t{256} << 10;

}  // namespace

Status RecordBatch::Fill(SortedBin* bin) {
  bytes_.clear();
  places_.clear();
  records_.clear();
  while (places_.size() < kMaxRecords && bytes_.size() < kMaxBytes) {
    ASSIGN_OR_RETURN(bool more, bin->Next());
    if (!more) break;
    bytes_.append(bin->key());
    const size_t key_end = bytes_.size();
    bytes_.append(bin->value());
    places_.push_back({key_end, bytes_.size()});
  }
  const std::string_view bytes = bytes_;
  size_t begin = 0;
  for (const Place& place : places_) {
    records_.push_back({bytes.substr(begin, place.key_end - begin),
                        bytes.substr(place.key_end, place.value_end - place.key_end)});
    begin = place.value_end;
  }
  return OkStatus();
}

}  // namespace koios::import
