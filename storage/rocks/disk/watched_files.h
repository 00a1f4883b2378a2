// The file system of a graph's RocksDB: the one below it, but what becomes of the manifest and
// the logs is told to the graph's high-water mark: how much of each is synced (of a log
// whose name is on disk), when CURRENT names another manifest, that a log is about to be deleted.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <memory>

#include "storage/disk/high_water_mark.h"

namespace koios::storage {

// Shares the mark. Thread-safe as RocksDB needs it.
std::unique_ptr<rocksdb::Env> NewWatchedEnv(std::shared_ptr<rocksdb::FileSystem> below,
                                            std::shared_ptr<HighWaterMark> mark);

}  // namespace koios::storage
