// Database: the open RocksDB of one graph with its families, and the conversion of its errors.
// Shared by the store and its views; the last one closes it. Thread-safe as RocksDB is.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/status.h"
#include "storage/codec/keys.h"
#include "storage/disk/high_water_mark.h"
#include "storage/rocks/graph_store.h"

namespace koios::storage {

inline rocksdb::Slice AsSlice(std::string_view bytes) {
  return rocksdb::Slice(bytes.data(), bytes.size());
}
inline std::string_view AsView(const rocksdb::Slice& slice) {
  return std::string_view(slice.data(), slice.size());
}
// Corruption is DATA_LOSS, a full disk RESOURCE_EXHAUSTED, other failures UNAVAILABLE. `doing`
// begins the message: "Reading the graph". The message names no path; the log has RocksDB's words.
Status FromRocks(const rocksdb::Status& status, std::string_view doing);

// Of a family's files, before compression.
size_t BlockBytesOf(Family family);

// How a database is opened: made anew; with the families that its older format lacks; as it is.
enum class OpenMode : uint8_t { kCreate, kAddFamilies, kAsItIs };

class Database {
 public:
  // `path`: RocksDB's own folder. With `create` it must not exist yet; without it must. `mark` is
  // told what is written; null when options.read_only. REQUIRES: options.disk, unless that is set.
  static StatusOr<std::shared_ptr<Database>> Open(const std::string& path, OpenMode mode,
                                                  const StoreOptions& options,
                                                  std::shared_ptr<HighWaterMark> mark);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  rocksdb::DB* db() const { return db_.get(); }
  rocksdb::ColumnFamilyHandle* family(Family family) const {
    return families_[static_cast<size_t>(family)];
  }
  // For writers of files to be ingested into `family`.
  rocksdb::Options FileOptions(Family family) const;
  // After a write failed, before the next one: RocksDB must not be written to until this succeeds.
  // `failure` is what it still fails with while RocksDB recovers by itself (the disk is full).
  Status ResumeWrites(const Status& failure);
  uint64_t DiskBytes() const;
  Status Compact();
  // Files that RocksDB no longer needs stay until it is told so: somebody still reads them.
  Status KeepOldFiles();
  Status RemoveOldFiles();
  // Destroys `thing` after RocksDB is closed.
  void Keep(std::shared_ptr<void> thing) { kept_.push_back(std::move(thing)); }

 private:
  Database() = default;

  std::vector<std::shared_ptr<void>> kept_;
  std::unique_ptr<rocksdb::Env> env_;
  rocksdb::DBOptions options_;
  std::array<rocksdb::ColumnFamilyOptions, kNumFamilies> family_options_;
  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, kNumFamilies> families_{};
};

// A RocksDB snapshot that is released with its last user.
class Snapshot {
 public:
  explicit Snapshot(std::shared_ptr<Database> database)
      : database_(std::move(database)), snapshot_(database_->db()->GetSnapshot()) {}
  ~Snapshot() { database_->db()->ReleaseSnapshot(snapshot_); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  const Database& database() const { return *database_; }
  rocksdb::ReadOptions ReadOptions() const {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot_;
    return options;
  }
  std::unique_ptr<rocksdb::Iterator> NewIterator(Family family,
                                                 const rocksdb::ReadOptions& options) const {
    return std::unique_ptr<rocksdb::Iterator>(
        database_->db()->NewIterator(options, database_->family(family)));
  }

 private:
  std::shared_ptr<Database> database_;
  const rocksdb::Snapshot* snapshot_;
};

}  // namespace koios::storage
