// The records that one chunk of rows becomes, on their way from a parsing thread to the sorters.
// Vertex: key = key of the id family, value = source | vertex record (storage/codec/records.h).
//   Without an id of its own the key is empty and the record has the id 0, replaced later.
// Edge: with an id, key = key of its id; without, empty. Value = in key | out key | source | edge
//   record, whose references are still 0. In and out key are the ends' keys in the id family.
#pragma once

#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

#include "core/types.h"
#include "import/load/bad_rows.h"

namespace koios::import {

// Where a record came from, for the report.
struct RecordSource {
  uint32_t file = 0;
  uint64_t line = 0;
  uint64_t offset = 0;
};
void PutSource(const RecordSource& source, std::string* out);
bool GetSource(std::string_view* input, RecordSource* source);

class RecordBlock {
 public:
  void Add(std::string_view key, std::string_view value);
  // Calls f(key, value) in order; stops at the first error.
  template <typename F>
  Status ForEach(F f) const;

  // Bad rows are kept packed: a chunk can hold nothing but them.
  void AddBad(const BadRow& row);
  template <typename F>
  Status ForEachBad(F f) const;

  uint64_t num_rows = 0;   // read, bad ones included
  int64_t max_int_id = 0;  // of vertices
  // Of vertices whose id is in a space: people look for them by what the id was (DESIGN 11).
  std::set<LabelId> labels_in_space;

 private:
  // Takes the bad row off the front of *bytes.
  static BadRow UnpackBad(std::string_view* bytes);

  std::string bytes_;
  std::string bad_bytes_;
};

template <typename F>
Status RecordBlock::ForEachBad(F f) const {
  std::string_view rest = bad_bytes_;
  while (!rest.empty()) RETURN_IF_ERROR(f(UnpackBad(&rest)));
  return OkStatus();
}

template <typename F>
Status RecordBlock::ForEach(F f) const {
  std::string_view rest = bytes_;
  while (!rest.empty()) {
    uint32_t sizes[2] = {0, 0};
    std::memcpy(sizes, rest.data(), sizeof(sizes));
    rest.remove_prefix(sizeof(sizes));
    RETURN_IF_ERROR(f(rest.substr(0, sizes[0]), rest.substr(sizes[0], sizes[1])));
    rest.remove_prefix(size_t{sizes[0]} + sizes[1]);
  }
  return OkStatus();
}

}  // namespace koios::import
