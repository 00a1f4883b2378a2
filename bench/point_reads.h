// Point reads as clients see them, beside a call that does nothing: what gRPC takes by itself.
#pragma once

#include <cstdint>
#include <memory>

#include "core/status.h"
#include "storage/data_folder.h"

namespace koios::bench {

// Serves the folder's graph g, whose ids are 0 to `num_vertices`, as `koios serve` does, and prints
// times of one connection and rates of several.
Status PointReads(std::unique_ptr<storage::DataFolder> folder, uint64_t num_vertices);

}  // namespace koios::bench
