// Checks a snapshot in full: each block against its check, and each structure against what the
// others say of it. It does not look at the truth.
#pragma once

#include <functional>
#include <string>

#include "core/status.h"
#include "storage/snapshot/partition_snapshot.h"

namespace koios::storage {

// Calls problem(text) for what is wrong; an error is a watch's.
Status CheckSnapshot(const PartitionSnapshot& snapshot,
                     const std::function<void(const std::string& problem)>& problem,
                     const std::function<Status(uint64_t entries)>& watch = nullptr);

}  // namespace koios::storage
