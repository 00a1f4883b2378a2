// StoreMemory: the caches, write buffers and deltas of stores. Stores that are opened with the same
// one share its bounds, however many they are, and fold in turn. Thread-safe.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/write_buffer_manager.h>

#include <atomic>
#include <memory>

#include "storage/delta/delta_budget.h"
#include "storage/rocks/graph_store.h"

namespace koios::storage {

struct StoreMemory {
  // With the bytes that the options name. RocksDB's write buffers are charged to its block cache.
  explicit StoreMemory(const StoreOptions& options);

  const std::shared_ptr<rocksdb::Cache> blocks;
  const std::shared_ptr<rocksdb::WriteBufferManager> write_buffers;
  const std::shared_ptr<DeltaBudget> deltas;
  std::atomic<bool> folding{false};  // somebody builds snapshots in the background
};

}  // namespace koios::storage
