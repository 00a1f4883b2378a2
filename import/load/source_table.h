// SourceTable: one input file with what its columns mean, after labels, patterns, folders, headers
// and the mapping file have been worked out. The order of tables is the order of loading: as given,
// patterns and folders in the order of their names.
#pragma once

#include <string>
#include <vector>

#include "core/status.h"
#include "import/csv/csv_options.h"
#include "import/header/table_plan.h"
#include "import/load/import_options.h"

namespace koios::import {

struct SourceTable {
  std::string path;
  TablePlan plan;
  bool skip_first_row = true;  // it is the header
};

struct Sources {
  CsvOptions csv;
  IdType id_type = IdType::kAuto;
  std::vector<SourceTable> nodes, edges;
};

// The largest window that a compressed file may ask for: a share of the memory.
uint64_t MaxWindowBytes(uint64_t memory_bytes);

// INVALID_ARGUMENT when a flag about the files' format is wrong. Without a mapping file, which may
// have the others, also how the flags stand to each other.
Status CheckCsvFlags(const ImportOptions& options);

// Reads the first row of each file. Errors name the file.
StatusOr<Sources> PlanSources(const ImportOptions& options);

}  // namespace koios::import
