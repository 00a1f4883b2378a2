// What a commit may hold: values that can be stored, within the limits of the store. Checked before
// anything is read or written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>

#include "core/schema.h"
#include "core/status.h"
#include "core/value.h"
#include "storage/commit_record.h"
#include "storage/write_batch.h"

namespace koios::storage {

// Of one property's value, unless the store's options say otherwise.
inline constexpr size_t kMaxValueBytes = size_t{16} << 20;

// Any value but elements, their properties, paths, tokens and directions, at any depth.
// INVALID_ARGUMENT; RESOURCE_EXHAUSTED past `max_bytes`.
Status CheckPropertyValue(const Value& value, size_t max_bytes);
// All values and names of a batch, and its size. INVALID_ARGUMENT or RESOURCE_EXHAUSTED.
Status CheckBatch(const WriteBatch& batch, size_t max_bytes, size_t max_value_bytes);
// The same of a record; and INVALID_ARGUMENT where ids, references or numbers are not there, or are
// of other places than those of a graph of so many partitions.
Status CheckRecord(const CommitRecord& record, uint32_t num_partitions, size_t max_bytes,
                   size_t max_value_bytes);
// INVALID_ARGUMENT: two added elements with one id, reference or number. REQUIRES: CheckRecord.
Status CheckDistinct(const CommitRecord& record);
// ALREADY_EXISTS. `what`: "a vertex", "an edge".
Status IdTaken(std::string_view what, const Value& id);
Status CommitTooLarge(size_t used_bytes, size_t max_bytes);
// The same of what is stored of the elements that are changed, as it is written anew.
Status ChangedTooLarge(size_t used_bytes, size_t max_bytes);
// A label or key: not empty, not longer than kMaxNameBytes.
Status CheckName(std::string_view name, std::string_view what);
// RESOURCE_EXHAUSTED when those of `names` that the table lacks don't fit.
Status CheckNewNames(const NameTable& table, const std::set<std::string_view>& names,
                     std::string_view what, uint32_t max_names);

}  // namespace koios::storage
