#include "storage/rocks/memory/store_memory.h"

namespace koios::storage {

StoreMemory::StoreMemory(const StoreOptions& options)
    : blocks(rocksdb::NewLRUCache(options.block_cache_bytes)),
      write_buffers(
          std::make_shared<rocksdb::WriteBufferManager>(options.write_buffer_bytes, blocks)),
      deltas(std::make_shared<DeltaBudget>(options.delta_bytes)) {}

std::shared_ptr<StoreMemory> MakeStoreMemory(const StoreOptions& options) {
  return std::make_shared<StoreMemory>(options);
}

}  // namespace koios::storage
