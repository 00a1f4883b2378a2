// StoreMemory: the caches and write buffers of stores. Stores that are opened with the same one
// share its bounds, however many they are. Thread-safe.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/write_buffer_manager.h>

#include <memory>

#include "storage/rocks/graph_store.h"
#include "storage/rocks/memory/adjacency_cache.h"

namespace koios::storage {

struct StoreMemory {
  // With the bytes that the options name. RocksDB's write buffers are charged to its block cache.
  explicit StoreMemory(const StoreOptions& options);

  const std::shared_ptr<rocksdb::Cache> blocks;
  const std::shared_ptr<rocksdb::WriteBufferManager> write_buffers;
  const std::shared_ptr<AdjacencyPool> adjacency;  // null: none
};

// The shared pool, or one of the store's own; null: none.
std::shared_ptr<AdjacencyPool> AdjacencyOf(const StoreOptions& options);

}  // namespace koios::storage
