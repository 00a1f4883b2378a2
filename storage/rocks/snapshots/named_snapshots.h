// The folder of a graph's snapshots, and which of its files count: those that the database names.
#pragma once

#include <cstdint>
#include <string>

#include "core/status.h"
#include "storage/meta_state.h"

namespace koios::storage {

// What crashes, failures and newer snapshots have left there.
Status RemoveUnnamedSnapshots(const std::string& folder, const NamedSnapshots& named);
// Above that of every file that is there or named.
StatusOr<uint64_t> NextSnapshotNumber(const std::string& folder, const NamedSnapshots& named);

}  // namespace koios::storage
