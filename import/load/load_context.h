// What the stages of one import share, and how its memory is divided among them.
// The memory is cut into eighths:
//   records put aside (sort/bin_sorter.h) and the table of ids 4, of which the table at most 2;
//     with the bins that are open 6
//   chunks and parsed blocks while reading 1, then the files that are being written
//   the snapshots that are being built 1
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/load/bad_rows.h"
#include "import/load/bins.h"
#include "import/load/import_options.h"
#include "import/load/label_cache.h"
#include "import/load/progress.h"
#include "import/load/record_block.h"
#include "import/load/rolling_stream.h"
#include "import/load/row_encoder.h"
#include "import/load/source_table.h"
#include "import/sort/bin_sorter.h"
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
  SortRoom* room = nullptr;
  EncodeTarget target{Bins(1, 1)};
  uint64_t spilled_bytes = 0;

  uint64_t Eighths(uint64_t count) const { return options->memory_bytes / 8 * count; }
  size_t num_threads() const;
  // What one thread may put aside of its own before it hands it on, in all bins.
  size_t ChunkBytes() const;
  RollingStream OpenStream(storage::Family family) const;
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
