// BadRows: where rows go that can't be loaded. Each becomes one JSON line of the report:
//   {"file":…,"line":…,"column":…,"code":…,"message":…,"raw":…}
// Line and column count from 1; column is the number of the field, 0 when it is the whole row.
// Rule: nothing is skipped in silence. Beyond the tolerance the import ends; the error tells the
// first bad row. One thread.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/status.h"

namespace koios::import {

// What is wrong with a row.
enum class RowCode : uint8_t {
  kBadType,
  kBadUtf8,
  kBadQuote,
  kBadId,
  kRaggedRow,
  kTooLong,
  kDuplicateId,
  kMissingEndpoint,
};
// "BAD_TYPE": the report's word; never changes.
std::string_view RowCodeName(RowCode code);

// Of the text of a row as many bytes are told.
inline constexpr size_t kMaxRawBytes = 1000;

struct BadRow {
  uint32_t file = 0;  // index into the files of the import
  uint64_t line = 0;
  uint32_t column = 0;
  RowCode code = RowCode::kBadType;
  std::string message;
  std::string raw;
};

struct BadRowOptions {
  int64_t tolerance = 0;  // -1: unlimited
  bool skip_missing_endpoints = false;
  std::string report_path;
};

class BadRows {
 public:
  // `files`: paths by index.
  static StatusOr<std::unique_ptr<BadRows>> Create(const BadRowOptions& options,
                                                   std::vector<std::string> files);

  // INVALID_ARGUMENT when there are more than are tolerated.
  Status Add(const BadRow& row);
  // Writes out the report. A report that can't be written is an error.
  Status Finish();

  const std::map<std::string, uint64_t>& by_code() const { return by_code_; }
  const std::vector<uint64_t>& by_file() const { return by_file_; }

 private:
  BadRows(const BadRowOptions& options, std::vector<std::string> files)
      : options_(options), files_(std::move(files)), by_file_(files_.size()) {}
  std::string Describe(const BadRow& row) const;

  BadRowOptions options_;
  std::vector<std::string> files_;
  std::ofstream report_;
  int64_t num_counted_ = 0;  // against the tolerance
  std::string first_;
  std::map<std::string, uint64_t> by_code_;
  std::vector<uint64_t> by_file_;
};

}  // namespace koios::import
