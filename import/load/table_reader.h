// Reads tables, file after file, through parallel parsing into blocks of records that arrive in the
// order of the input. Bad rows of a block are reported before the block is handed on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/status.h"
#include "import/load/load_context.h"
#include "import/load/record_block.h"
#include "import/load/source_table.h"

namespace koios::import {

// `first_file` is the number of tables[0] among the files of the import.
Status ReadTables(LoadContext* context, const std::string& stage,
                  const std::vector<SourceTable>& tables, uint32_t first_file,
                  const std::function<Status(RecordBlock*)>& consume);

}  // namespace koios::import
