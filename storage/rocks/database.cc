#include "storage/rocks/database.h"

#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/log.h"
#include "storage/rocks/disk/rocks_log.h"
#include "storage/rocks/disk/store_disk.h"
#include "storage/rocks/disk/watched_files.h"
#include "storage/rocks/memory/store_memory.h"
#include "storage/rocks/tables/table_file.h"
#include "storage/store_errors.h"

namespace koios::storage {
namespace {

bool IsIndexOfPoints(Family family) {
  switch (family) {
    case Family::kVertices:
    case Family::kVertexIds:
    case Family::kEdges:
    case Family::kEdgeIds:
      return true;
    case Family::kMeta:
    case Family::kVertexLabels:
    case Family::kEdgeEnds:
    case Family::kVertexIndex:
      return false;
  }
  return false;
}

rocksdb::ColumnFamilyOptions FamilyOptions(Family family,
                                           const std::shared_ptr<rocksdb::Cache>& cache,
                                           const StoreOptions& options) {
  rocksdb::ColumnFamilyOptions out;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = BlockBytesOf(family);
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.format_version = 5;
  if (IsIndexOfPoints(family)) {
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  }
  out.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  out.compression = rocksdb::kLZ4Compression;
  // What stays: two fifths less than LZ4's, for about the same work in blocks of this size.
  out.bottommost_compression = rocksdb::kZSTD;
  out.bottommost_compression_opts.enabled = true;
  out.bottommost_compression_opts.level = kZstdLevel;
  out.write_buffer_size = std::max<size_t>(options.write_buffer_bytes / 4, size_t{64} << 10);
  out.level_compaction_dynamic_level_bytes = true;
  return out;
}

rocksdb::DBOptions MakeDbOptions(OpenMode mode, const StoreOptions& options,
                                 const StoreMemory& memory) {
  rocksdb::DBOptions out;
  out.create_if_missing = mode == OpenMode::kCreate;
  out.error_if_exists = mode == OpenMode::kCreate;
  out.create_missing_column_families = mode != OpenMode::kAsItIs;
  // The default mode drops acknowledged commits after a damaged record without a word; this one
  // forgives a torn tail only. A repair wants what stands before the damage.
  out.wal_recovery_mode = options.repair ? rocksdb::WALRecoveryMode::kPointInTimeRecovery
                                         : rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  out.paranoid_checks = true;
  out.max_open_files = options.max_open_files;
  out.max_background_jobs = 2;
  out.write_buffer_manager = memory.write_buffers;
  out.max_total_wal_size = 2 * options.write_buffer_bytes;
  out.info_log = MakeRocksLog();
  out.stats_dump_period_sec = 0;
  out.stats_persist_period_sec = 0;
  return out;
}

}  // namespace

size_t BlockBytesOf(Family family) { return family == Family::kEdgeEnds ? 16 * 1024 : 8 * 1024; }

Status FromRocks(const rocksdb::Status& status, std::string_view doing) {
  if (status.ok()) return OkStatus();
  const std::string text = status.ToString();
  KLOG_ERROR("{} failed: {}", doing, text);
  const std::string failed = std::string(doing) + " failed: ";
  // A file or family that is gone is damage as well.
  if (status.IsCorruption() || status.IsInvalidArgument() || status.IsPathNotFound()) {
    const std::string file = DatabaseFileIn(text);
    const char* const what = status.IsPathNotFound() ? "gone" : "damaged";
    return WithWayOut(
        DataLoss(failed + (file.empty() ? "a file" : "the file " + file) + " is " + what + "."));
  }
  if (status.IsNoSpace()) {
    ErrorDetail detail;
    detail.reason = "DISK_FULL";
    detail.limit = "disk space";
    return ResourceExhausted(failed + "the disk is full.", detail);
  }
  // The last part is the system's reason, without a path.
  const size_t colon = text.rfind(": ");
  std::string reason = colon == std::string::npos ? text : text.substr(colon + 2);
  if (reason.find('/') != std::string::npos) reason = "the log of the server tells why";
  return Unavailable(failed + reason + ".");
}

StatusOr<std::shared_ptr<Database>> Database::Open(const std::string& path, OpenMode mode,
                                                   const StoreOptions& options,
                                                   std::shared_ptr<HighWaterMark> mark) {
  std::shared_ptr<Database> database(new Database());
  const auto memory = options.memory != nullptr ? options.memory : MakeStoreMemory(options);
  database->options_ = MakeDbOptions(mode, options, *memory);
  if (mark != nullptr) {
    database->env_ = NewWatchedEnv(options.disk->database, std::move(mark));
    database->options_.env = database->env_.get();
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (size_t i = 0; i < kNumFamilies; ++i) {
    const auto family = static_cast<Family>(i);
    database->family_options_[i] = FamilyOptions(family, memory->blocks, options);
    families.emplace_back(std::string(FamilyName(family)), database->family_options_[i]);
  }
  if (mode == OpenMode::kCreate) {  // it reports an error of a folder that is not there
    RETURN_IF_ERROR(
        FromRocks(database->options_.env->CreateDirIfMissing(path), "Creating the graph"));
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened =
      options.read_only
          ? rocksdb::DB::OpenForReadOnly(database->options_, path, families, &handles, &db)
          : rocksdb::DB::Open(database->options_, path, families, &handles, &db);
  // A view of a store that is closed may still hold it.
  if (opened.IsIOError() && opened.ToString().find("lock hold by") != std::string::npos) {
    return FailedPrecondition("The graph is still in use by this process.");
  }
  RETURN_IF_ERROR(FromRocks(opened, "Opening the graph"));
  database->db_.reset(db);
  std::copy(handles.begin(), handles.end(), database->families_.begin());
  return database;
}

Database::~Database() {
  if (db_ == nullptr) return;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    if (family != nullptr) db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  }
  db_->Close().PermitUncheckedError();
  db_.reset();
  // Last what was kept first: a lock outlives the removal of what it protects.
  while (!kept_.empty()) kept_.pop_back();
}

rocksdb::Options Database::FileOptions(Family family) const {
  return rocksdb::Options(options_, family_options_[static_cast<size_t>(family)]);
}

Status Database::ResumeWrites(const Status& failure) {
  const rocksdb::Status resumed = db_->Resume();
  // After a full disk RocksDB looks for space by itself, every few seconds.
  if (resumed.IsBusy()) return failure;
  return FromRocks(resumed, "Resuming writes");
}

Status Database::KeepOldFiles() {
  return FromRocks(db_->DisableFileDeletions(), "Keeping old files");
}

Status Database::RemoveOldFiles() {
  return FromRocks(db_->EnableFileDeletions(/*force=*/false), "Removing old files");
}

uint64_t Database::DiskBytes() const {
  uint64_t total = 0;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    uint64_t bytes = 0;
    if (db_->GetIntProperty(family, rocksdb::DB::Properties::kTotalSstFilesSize, &bytes)) {
      total += bytes;
    }
  }
  return total;
}

Status Database::Compact() {
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    RETURN_IF_ERROR(FromRocks(db_->Flush(rocksdb::FlushOptions(), family), "Writing the graph"));
    RETURN_IF_ERROR(
        FromRocks(db_->CompactRange(rocksdb::CompactRangeOptions(), family, nullptr, nullptr),
                  "Compacting the graph"));
  }
  return OkStatus();
}

}  // namespace koios::storage
