#include "storage/rocks/snapshots/commit_log.h"

#include <memory>
#include <string>

#include "storage/codec/meta_codec.h"
#include "storage/delta/delta_record.h"

namespace koios::storage {

Status ReplayLog(const Database& database, uint64_t after, uint64_t upto, Delta* delta) {
  const std::string end(1, kLogPrefix + 1);
  const rocksdb::Slice upper(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &upper;
  std::unique_ptr<rocksdb::Iterator> records(
      database.db()->NewIterator(options, database.family(Family::kMeta)));
  uint64_t reached = after;
  // From the first that is wanted on: those before may be many, and gone.
  for (records->Seek(LogKey(after + 1)); reached < upto && records->Valid(); records->Next()) {
    ASSIGN_OR_RETURN(const uint64_t version, DecodeLogKey(AsView(records->key())));
    if (DeltaRecordReader(AsView(records->value())).version_before() != reached) break;
    RETURN_IF_ERROR(delta->Apply(version, AsView(records->value())));
    reached = version;
  }
  RETURN_IF_ERROR(FromRocks(records->status(), "Reading the log of commits"));
  return reached == upto ? OkStatus() : DataLoss("The log of commits is not whole.");
}

void PutLogRecord(const Database& database, uint64_t version, std::string_view record,
                  rocksdb::WriteBatch* batch) {
  batch->Put(database.family(Family::kMeta), LogKey(version), AsSlice(record))
      .PermitUncheckedError();
}

void TrimLog(const Database& database, uint64_t version, rocksdb::WriteBatch* batch) {
  batch->DeleteRange(database.family(Family::kMeta), LogKey(0), LogKey(version + 1))
      .PermitUncheckedError();
}

}  // namespace koios::storage
