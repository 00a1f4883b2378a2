// StoreDisk: what a graph's files are written through. Tests put their own in its place, by the
// store's options. Small files of the graph's folder (disk/files.h) and its mark go past it.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

#include "storage/snapshot/snapshot_disk.h"

namespace koios::storage {

struct StoreDisk {
  // Below what the high-water mark is told by.
  std::shared_ptr<rocksdb::FileSystem> database = rocksdb::FileSystem::Default();
  // Snapshots, and the tables of a load that RocksDB does not write itself. Outlives the store.
  SnapshotDisk* files = SnapshotDisk::Real();
};

}  // namespace koios::storage
