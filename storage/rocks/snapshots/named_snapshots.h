// The folder of a graph's snapshots, and which of its files count: those that the database names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/status.h"
#include "storage/meta_state.h"
#include "storage/view/snapshot_set.h"

namespace koios::storage {

// What crashes, failures and newer snapshots have left there.
Status RemoveUnnamedSnapshots(const std::string& folder, const NamedSnapshots& named);
// Above that of every file that is there or named.
StatusOr<uint64_t> NextSnapshotNumber(const std::string& folder, const NamedSnapshots& named);
// Those that `meta` names, when they are of all partitions and of its version; else null. Null, and
// a word in the log, when one can't be opened: the truth has it all.
std::shared_ptr<const SnapshotSet> OpenNamedSnapshots(const std::string& folder,
                                                      const MetaState& meta);

}  // namespace koios::storage
