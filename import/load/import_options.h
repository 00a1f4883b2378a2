// What the user asked of an import, and what came of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "import/header/table_plan.h"

namespace koios::import {

enum class ProgressMode : uint8_t { kAuto, kJson, kNone };

inline constexpr uint64_t kMinMemoryBytes = uint64_t{8} << 20;

struct ImportOptions {
  // "[Label=]path": a file, a pattern, or with a mapping a folder. "header.csv,a.csv,b.csv" is one
  // table whose first row is the header of all.
  std::vector<std::string> nodes, edges;
  std::string mapping;
  // As written on the command line; absent ones come from the mapping file, then the defaults.
  std::optional<std::string> delimiter, quote, array_delimiter, id_type;
  Dialect dialect = Dialect::kAuto;
  int threads = 0;  // 0: one per core
  uint64_t memory_bytes = uint64_t{1} << 30;
  int64_t bad_tolerance = 0;  // -1: unlimited
  bool skip_missing_endpoints = false;
  std::string report;    // a file for JSON lines; empty: none
  std::string temp_dir;  // for sorting
  ProgressMode progress = ProgressMode::kNone;
  bool snapshot = true;  // of a new graph, beside it
};

struct ImportSummary {
  std::map<std::string, uint64_t> vertices, edges;  // per label
  uint64_t rows_read = 0;
  std::map<std::string, uint64_t> skipped;  // rows per code
  std::vector<std::string> warnings;
  uint64_t spilled_bytes = 0;
  bool appended = false;        // to a graph, which has no snapshot now
  uint32_t snapshot_files = 0;  // of a new graph; 0: there is no snapshot
  uint64_t snapshot_bytes = 0;
  double seconds = 0;

  uint64_t num_skipped() const;
};

}  // namespace koios::import
