// TableFile: a file of sorted records in the format of RocksDB's SstFileWriter (block-based table,
// format version 5, no filter), for less than half of the work per record. What is looked up by
// keys that may not be there needs a filter, which RocksDB's writer alone can make.
//   blocks     entries: shared with the key before, rest, value size (varints), rest of key, value;
//              every 16th shares nothing; then where those begin. zstd where that saves an eighth
//   behind     each block: compression 1, check 4 (XXH3)
//   last       index (last key of each block -> offset, size), properties, metaindex, footer 53
// RocksDB reads and checks such files in table_file_test.cc. One thread.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "storage/snapshot/snapshot_disk.h"

namespace koios::storage {

// Of tables that stay, these and those that RocksDB compacts into its last level.
inline constexpr int kZstdLevel = 1;

class TableFile {
 public:
  static StatusOr<std::unique_ptr<TableFile>> Create(SnapshotDisk* disk, const std::string& path,
                                                     size_t block_bytes);

  // FAILED_PRECONDITION: the key is not behind the last one.
  Status Add(std::string_view key, std::string_view value);
  // Empty before the first Add.
  const std::string& last_key() const { return last_key_; }
  // Written so far.
  uint64_t bytes() const { return offset_; }
  // The file is whole and durable. REQUIRES: there was an Add.
  Status Finish();

 private:
  struct Handle {
    uint64_t offset = 0, size = 0;
  };
  struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  TableFile(std::unique_ptr<SnapshotOutput> output, size_t block_bytes)
      : output_(std::move(output)), block_bytes_(block_bytes), compressor_(ZSTD_createCCtx()) {}

  static void AppendHandle(const Handle& handle, std::string* out);
  static void EndBlock(const std::vector<uint32_t>& restarts, std::string* block);
  Status FinishDataBlock();
  // Behind what is written; `may_compress`: where it is worth it.
  StatusOr<Handle> WriteBlock(std::string_view block, bool may_compress);
  std::string Properties(const Handle& index) const;
  Status Flush();

  const std::unique_ptr<SnapshotOutput> output_;
  const size_t block_bytes_;
  const std::unique_ptr<ZSTD_CCtx, FreeContext> compressor_;
  std::string buffer_;  // not written yet, the end of the file
  uint64_t offset_ = 0;
  std::string block_, compressed_, last_key_;
  std::vector<uint32_t> restarts_, index_restarts_;
  uint32_t since_restart_ = 0;
  std::string index_;
  uint64_t num_entries_ = 0, num_blocks_ = 0, key_bytes_ = 0, value_bytes_ = 0, data_bytes_ = 0;
};

}  // namespace koios::storage
