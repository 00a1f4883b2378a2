// What the stages of one import share, and how its memory is divided among them.
// The memory is cut into eighths. Stages that run at the same time never hold more than eight:
//   reading      chunks and parsed blocks 2, the sorters that take them in 2 + 2 (or one of 4)
//   resolving    merging the sorter before 1, filling the next 4
//   writing      merging 1, labels 1, indexed properties 1 (or edge ends 4, edge ids 1), the files
//                of one or two families 1
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/load/bad_rows.h"
#include "import/load/import_options.h"
#include "import/load/label_cache.h"
#include "import/load/progress.h"
#include "import/load/record_block.h"
#include "import/load/rolling_stream.h"
#include "import/load/source_table.h"
#include "import/sort/external_sorter.h"
#include "storage/bulk_writer.h"
#include "storage/graph_view.h"

namespace koios::import {

struct LoadContext {
  const ImportOptions* options = nullptr;
  const Sources* sources = nullptr;
  storage::BulkWriter* writer = nullptr;
  const storage::GraphView* existing = nullptr;  // the graph appended to, or null
  LabelCache* labels = nullptr;
  BadRows* bad_rows = nullptr;
  Progress* progress = nullptr;
  std::vector<uint64_t> rows_by_file;
  uint64_t spilled_bytes = 0;

  uint64_t Eighths(uint64_t count) const { return options->memory_bytes / 8 * count; }
  SortOptions Sorting(uint64_t eighths) const {
    return SortOptions{options->temp_dir, Eighths(eighths), Eighths(1)};
  }
  // Files in writing get half an eighth each.
  RollingStream OpenStream(storage::Family family) const {
    return RollingStream(writer, family, Eighths(1) / 2);
  }
  // Nodes come first in the numbering of files.
  const SourceTable& Table(uint32_t file) const {
    const size_t num_nodes = sources->nodes.size();
    return file < num_nodes ? sources->nodes[file] : sources->edges[file - num_nodes];
  }
};

// Reports a row that turned out bad after it was parsed; finds its text again where it can.
Status ReportRow(LoadContext* context, const RecordSource& source, RowCode code, uint32_t column,
                 std::string message);

}  // namespace koios::import
