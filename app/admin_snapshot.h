// `koios admin snapshot`: builds the snapshots of a graph, and says what it wrote.
#pragma once

#include <ostream>
#include <string>

#include "core/status.h"
#include "storage/data_folder.h"
#include "storage/snapshot_build.h"

namespace koios::app {

// With `tell`, progress on standard error.
StatusOr<storage::SnapshotReport> BuildSnapshotsOf(storage::DataFolder* folder,
                                                   const std::string& graph,
                                                   const storage::SnapshotOptions& options,
                                                   bool tell);
// Of a folder that nobody serves, in this process; progress on a terminal's standard error.
Status BuildAndPrintSnapshots(const std::string& data, const std::string& graph,
                              const storage::StoreOptions& options, std::ostream& out);

void PrintSnapshotReport(const storage::SnapshotReport& report, std::ostream& out);

}  // namespace koios::app
