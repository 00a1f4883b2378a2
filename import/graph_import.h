// The import of CSV files into a named graph of a data folder: this folder's entry.
//   ASSIGN_OR_RETURN(auto folder, storage::DataFolder::Open(dir, {.create = true}));
//   ImportOptions options;
//   options.nodes = {"Person=people.csv"};
//   options.edges = {"knows=knows.csv"};
//   ASSIGN_OR_RETURN(ImportSummary summary,
//                    ImportGraph(folder.get(), "g", WhenGraphExists::kRefuse, options));
// Rule: the graph is as it was until everything is loaded, then has everything, in one atomic step;
// whenever the process dies.
#pragma once

#include <string>

#include "core/status.h"
#include "import/load/import_options.h"
#include "storage/data_folder.h"

namespace koios::import {

enum class WhenGraphExists : uint8_t { kRefuse, kAppend, kReplace };

// FAILED_PRECONDITION: the graph exists and `when_exists` is kRefuse. INVALID_ARGUMENT: bad input,
// with file and line. NOT_FOUND: no such file. Sorts in options.temp_dir, or in the data folder.
StatusOr<ImportSummary> ImportGraph(storage::DataFolder* folder, const std::string& graph,
                                    WhenGraphExists when_exists, ImportOptions options);

// The summary as people read it, one label a line.
std::string FormatSummary(const ImportSummary& summary);

}  // namespace koios::import
