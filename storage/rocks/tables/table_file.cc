#include "storage/rocks/tables/table_file.h"

#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/value_codec.h"

namespace koios::storage {
namespace {

constexpr uint32_t kRestartInterval = 16;
constexpr size_t kBufferBytes = size_t{128} << 10;
constexpr char kNoCompression = 0, kZstd = 7;
constexpr char kXxh3 = 4;
constexpr uint32_t kTableFormat = 5;
constexpr uint64_t kTableMagic = 0x88E241B785F4CFF7;
constexpr size_t kHandlesBytes = 40;
// Sequence number 0, a value: behind each key.
constexpr char kKeyEnd[8] = {1, 0, 0, 0, 0, 0, 0, 0};

template <typename T>
void PutFixed(T number, std::string* out) {
  out->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// RocksDB hashes all but the last byte, the kind of compression, and mixes that in.
uint32_t BlockCheck(std::string_view block, char compression) {
  constexpr uint32_t kPrime = 0x6B9083D9;
  const auto hash = static_cast<uint32_t>(XXH3_64bits(block.data(), block.size()));
  return hash ^ (static_cast<uint8_t>(compression) * kPrime);
}

size_t SharedBytes(std::string_view a, std::string_view b) {
  const size_t most = std::min(a.size(), b.size());
  size_t at = 0;
  for (; at + 8 <= most; at += 8) {
    uint64_t x = 0, y = 0;
    std::memcpy(&x, a.data() + at, 8);
    std::memcpy(&y, b.data() + at, 8);
    if (x != y) return at + static_cast<size_t>(__builtin_ctzll(x ^ y)) / 8;
  }
  while (at < most && a[at] == b[at]) ++at;
  return at;
}

// A block of the file's own facts: entries without a shared part.
void AppendFact(std::string_view name, std::string_view value, std::string* block) {
  PutVarint(0, block);
  PutVarint(name.size(), block);
  PutVarint(value.size(), block);
  block->append(name);
  block->append(value);
}

std::string Varint(uint64_t number) {
  std::string out;
  PutVarint(number, &out);
  return out;
}

template <typename T>
std::string Fixed(T number) {
  std::string out;
  PutFixed(number, &out);
  return out;
}

}  // namespace

StatusOr<std::unique_ptr<TableFile>> TableFile::Create(SnapshotDisk* disk, const std::string& path,
                                                       size_t block_bytes) {
  ASSIGN_OR_RETURN(auto output, disk->Create(path));
  return std::unique_ptr<TableFile>(new TableFile(std::move(output), block_bytes));
}

Status TableFile::Add(std::string_view key, std::string_view value) {
  size_t shared = SharedBytes(last_key_, key);
  const bool ascends = shared < key.size() &&
                       (shared == last_key_.size() || static_cast<uint8_t>(last_key_[shared]) <
                                                          static_cast<uint8_t>(key[shared]));
  if (num_entries_ > 0 && !ascends) return FailedPrecondition("The keys of a table do not ascend.");
  if (since_restart_ == kRestartInterval || block_.empty()) {
    restarts_.push_back(static_cast<uint32_t>(block_.size()));
    since_restart_ = 0;
    shared = 0;
  }
  ++since_restart_;
  const std::string_view rest = key.substr(shared);
  const size_t rest_bytes = rest.size() + sizeof(kKeyEnd);
  if (std::max(shared, rest_bytes) < 0x80 && value.size() < 0x80) {
    const char head[3] = {static_cast<char>(shared), static_cast<char>(rest_bytes),
                          static_cast<char>(value.size())};
    block_.append(head, sizeof(head));
  } else {
    PutVarint(shared, &block_);
    PutVarint(rest_bytes, &block_);
    PutVarint(value.size(), &block_);
  }
  block_.append(rest);
  block_.append(kKeyEnd, sizeof(kKeyEnd));
  block_.append(value);
  last_key_.assign(key);
  ++num_entries_;
  key_bytes_ += key.size() + sizeof(kKeyEnd);
  value_bytes_ += value.size();
  return block_.size() + 4 * restarts_.size() >= block_bytes_ ? FinishDataBlock() : OkStatus();
}

void TableFile::AppendHandle(const Handle& handle, std::string* out) {
  PutVarint(handle.offset, out);
  PutVarint(handle.size, out);
}

void TableFile::EndBlock(const std::vector<uint32_t>& restarts, std::string* block) {
  for (const uint32_t restart : restarts) PutFixed(restart, block);
  PutFixed(static_cast<uint32_t>(restarts.size()), block);
}

Status TableFile::FinishDataBlock() {
  EndBlock(restarts_, &block_);
  ASSIGN_OR_RETURN(const Handle handle, WriteBlock(block_, true));
  block_.clear();
  restarts_.clear();
  ++num_blocks_;
  data_bytes_ = offset_;
  index_restarts_.push_back(static_cast<uint32_t>(index_.size()));
  PutVarint(0, &index_);
  PutVarint(last_key_.size(), &index_);
  index_ += last_key_;
  AppendHandle(handle, &index_);
  return OkStatus();
}

StatusOr<TableFile::Handle> TableFile::WriteBlock(std::string_view block, bool may_compress) {
  char compression = kNoCompression;
  if (may_compress) {
    compressed_.clear();
    PutVarint(block.size(), &compressed_);
    const size_t head = compressed_.size();
    const size_t room = ZSTD_compressBound(block.size());
    compressed_.resize(head + room);
    const size_t size = ZSTD_compressCCtx(compressor_.get(), compressed_.data() + head, room,
                                          block.data(), block.size(), kZstdLevel);
    const bool failed = ZSTD_isError(size) != 0;
    compressed_.resize(head + (failed ? 0 : size));
    if (!failed && compressed_.size() < block.size() - block.size() / 8) {
      compression = kZstd;
      block = compressed_;
    }
  }
  const Handle handle{offset_, block.size()};
  buffer_.append(block);
  buffer_.push_back(compression);
  PutFixed(BlockCheck(block, compression), &buffer_);
  offset_ = handle.offset + block.size() + 5;
  if (buffer_.size() >= kBufferBytes) RETURN_IF_ERROR(Flush());
  return handle;
}

Status TableFile::Flush() {
  Status written = output_->Write(offset_ - buffer_.size(), buffer_);
  buffer_.clear();
  return written;
}

std::string TableFile::Properties(const Handle& index) const {
  std::string block;
  // In the order of their names.
  AppendFact("rocksdb.block.based.table.index.type", Fixed(uint32_t{0}), &block);
  AppendFact("rocksdb.block.based.table.prefix.filtering", "0", &block);
  AppendFact("rocksdb.block.based.table.whole.key.filtering", "1", &block);
  AppendFact("rocksdb.column.family.id", Varint(0x7FFFFFFF), &block);
  AppendFact("rocksdb.comparator", "leveldb.BytewiseComparator", &block);
  AppendFact("rocksdb.compression", "ZSTD", &block);
  AppendFact("rocksdb.data.size", Varint(data_bytes_), &block);
  AppendFact("rocksdb.deleted.keys", Varint(0), &block);
  AppendFact("rocksdb.external_sst_file.global_seqno", Fixed(uint64_t{0}), &block);
  AppendFact("rocksdb.external_sst_file.version", Fixed(uint32_t{2}), &block);
  AppendFact("rocksdb.filter.size", Varint(0), &block);
  AppendFact("rocksdb.fixed.key.length", Varint(0), &block);
  AppendFact("rocksdb.format.version", Varint(0), &block);
  AppendFact("rocksdb.index.key.is.user.key", Varint(1), &block);
  AppendFact("rocksdb.index.size", Varint(index.size), &block);
  AppendFact("rocksdb.index.value.is.delta.encoded", Varint(1), &block);
  AppendFact("rocksdb.merge.operands", Varint(0), &block);
  AppendFact("rocksdb.merge.operator", "nullptr", &block);
  AppendFact("rocksdb.num.data.blocks", Varint(num_blocks_), &block);
  AppendFact("rocksdb.num.entries", Varint(num_entries_), &block);
  AppendFact("rocksdb.num.range-deletions", Varint(0), &block);
  AppendFact("rocksdb.prefix.extractor.name", "nullptr", &block);
  AppendFact("rocksdb.property.collectors", "[]", &block);
  AppendFact("rocksdb.raw.key.size", Varint(key_bytes_), &block);
  AppendFact("rocksdb.raw.value.size", Varint(value_bytes_), &block);
  EndBlock({0}, &block);
  return block;
}

Status TableFile::Finish() {
  if (!block_.empty()) RETURN_IF_ERROR(FinishDataBlock());
  EndBlock(index_restarts_, &index_);
  ASSIGN_OR_RETURN(const Handle index, WriteBlock(index_, true));
  ASSIGN_OR_RETURN(const Handle properties, WriteBlock(Properties(index), false));
  std::string meta, handle;
  AppendHandle(properties, &handle);
  AppendFact("rocksdb.properties", handle, &meta);
  EndBlock({0}, &meta);
  ASSIGN_OR_RETURN(const Handle metaindex, WriteBlock(meta, false));
  std::string handles;
  AppendHandle(metaindex, &handles);
  AppendHandle(index, &handles);
  handles.resize(kHandlesBytes);
  buffer_.push_back(kXxh3);
  buffer_ += handles;
  PutFixed(kTableFormat, &buffer_);
  PutFixed(kTableMagic, &buffer_);
  offset_ += 1 + kHandlesBytes + sizeof(kTableFormat) + sizeof(kTableMagic);
  RETURN_IF_ERROR(Flush());
  return output_->Finish(offset_);
}

}  // namespace koios::storage
