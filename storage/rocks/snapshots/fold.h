// A fold: new snapshots of what the truth is now, in place of those that there are with the delta
// on top of them. The order: files, synced and renamed; then one synced write that names them and
// trims the log; then they are published. Whatever ends it before leaves what was there.
#pragma once

#include "storage/rocks/store_state.h"
#include "storage/snapshot_build.h"

namespace koios::storage {

// As BuildSnapshots.
StatusOr<SnapshotReport> Fold(const SnapshotOptions& options, const SnapshotWatch& watch,
                              StoreState* state);

}  // namespace koios::storage
