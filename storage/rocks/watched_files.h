// The file system under a graph's RocksDB: the system's own, but what becomes of the manifest and
// the logs is told to the graph's high-water mark: how much of each is synced, when CURRENT names
// another manifest, and that a log is about to be deleted.
#pragma once

#include <rocksdb/env.h>

#include <memory>

#include "storage/disk/high_water_mark.h"

namespace koios::storage {

// Shares the mark. Thread-safe as RocksDB needs it.
std::unique_ptr<rocksdb::Env> NewWatchedEnv(std::shared_ptr<HighWaterMark> mark);

}  // namespace koios::storage
