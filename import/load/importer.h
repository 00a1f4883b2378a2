// One import, from files to a finished BulkWriter: works out the sources, runs the stages, sums up.
// Rule: an error leaves the graph as it was; nothing is visible before RunImport returns ok.
#pragma once

#include "core/status.h"
#include "import/load/import_options.h"
#include "storage/bulk_writer.h"
#include "storage/graph_view.h"

namespace koios::import {

// INVALID_ARGUMENT when the options are wrong whatever the files hold: wrong usage.
Status CheckOptions(const ImportOptions& options);

// `existing` is the newest view of the graph that `writer` appends to, or null for a new graph.
// INVALID_ARGUMENT for bad input, with file and line; NOT_FOUND for a missing file.
StatusOr<ImportSummary> RunImport(const ImportOptions& options, storage::BulkWriter* writer,
                                  const storage::GraphView* existing);

}  // namespace koios::import
