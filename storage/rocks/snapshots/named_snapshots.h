// The folder of a graph's snapshots, and which of its files count: those that the database names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/status.h"
#include "storage/meta_state.h"
#include "storage/snapshot/snapshot_disk.h"
#include "storage/view/snapshot_set.h"

namespace koios::storage {

// What crashes, failures and newer snapshots have left there.
Status RemoveUnnamedSnapshots(const std::string& folder, const NamedSnapshots& named,
                              SnapshotDisk* disk);
// Above that of every file that is there or named.
StatusOr<uint64_t> NextSnapshotNumber(const std::string& folder, const NamedSnapshots& named);
// What the graph was when its log of commits began: the snapshots that `meta` names, or nothing of
// a graph that was empty. Null: there are none, or (with a word in the log) one can't be opened;
// the truth has it all.
std::shared_ptr<const SnapshotSet> OpenNamedSnapshots(const std::string& folder,
                                                      const MetaState& meta);
// Those in `named`; DATA_LOSS when one can't be opened. `kept`, unless null, has some that are
// open.
StatusOr<std::shared_ptr<const SnapshotSet>> OpenSnapshotSet(const std::string& folder,
                                                             uint64_t version,
                                                             const NamedSnapshots& named,
                                                             const SnapshotSet* kept);

}  // namespace koios::storage
