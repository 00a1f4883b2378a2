// The log of commits that no snapshot has: in the meta family behind the facts, one record per
// group of commits (delta/delta_record.h), written with its effects and trimmed when a fold names
// its snapshots.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/status.h"
#include "storage/delta/delta.h"
#include "storage/rocks/database.h"

namespace koios::storage {

// Applies the records of the commits behind version `after`, up to `upto`. DATA_LOSS when they are
// not all there.
Status ReplayLog(const Database& database, uint64_t after, uint64_t upto, Delta* delta);
void PutLogRecord(const Database& database, uint64_t version, std::string_view record,
                  rocksdb::WriteBatch* batch);
// Of the commits up to the version.
void TrimLog(const Database& database, uint64_t version, rocksdb::WriteBatch* batch);

}  // namespace koios::storage
