#include "storage/rocks/memory/store_memory.h"

namespace koios::storage {
namespace {

std::shared_ptr<AdjacencyPool> MakePool(const StoreOptions& options) {
  if (options.adjacency_cache_bytes == 0) return nullptr;
  return std::make_shared<AdjacencyPool>(options.adjacency_cache_bytes);
}

}  // namespace

StoreMemory::StoreMemory(const StoreOptions& options)
    : blocks(rocksdb::NewLRUCache(options.block_cache_bytes)),
      write_buffers(
          std::make_shared<rocksdb::WriteBufferManager>(options.write_buffer_bytes, blocks)),
      adjacency(MakePool(options)) {}

std::shared_ptr<AdjacencyPool> AdjacencyOf(const StoreOptions& options) {
  const bool shared = options.memory != nullptr && options.adjacency_cache_bytes > 0;
  return shared ? options.memory->adjacency : MakePool(options);
}

std::shared_ptr<StoreMemory> MakeStoreMemory(const StoreOptions& options) {
  return std::make_shared<StoreMemory>(options);
}

}  // namespace koios::storage
