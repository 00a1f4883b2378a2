// The table of ids of a partition's vertices: buckets of twelve, each with a tag of one byte per
// id, so that one line of the cache tells nearly always which vertex can have an id; who asks
// compares the id itself. An id that finds its bucket full is in one behind it (as Facebook's F14).
#pragma once

#include <cstdint>
#include <string_view>

#include "core/status.h"
#include "storage/snapshot/mapped_file.h"
#include "storage/snapshot/number_stage.h"
#include "storage/snapshot/record_sorter.h"

namespace koios::storage {

// Where the table looks for an id.
struct IdSlot {
  uint64_t hash = 0;

  static IdSlot Of(std::string_view id_bytes) {
    // What tells the partition does not choose the bucket.
    constexpr uint64_t kMix = 0x9E3779B97F4A7C15ull;
    const uint64_t hash = SnapshotCheck(id_bytes) * kMix;
    return {hash ^ (hash >> 29)};
  }
  // Ascends with the hash.
  uint64_t Bucket(uint64_t num_home_buckets) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * num_home_buckets) >> 64);
  }
  uint8_t tag() const { return static_cast<uint8_t>(hash) == 0 ? 1 : static_cast<uint8_t>(hash); }
};

// Buckets that are somebody's own, of a table of `num_ids`; what the last ones have no room for is
// in further ones.
inline uint64_t HomeBuckets(uint64_t num_ids) { return num_ids / 10 + 1; }

class IdTableWriter {
 public:
  explicit IdTableWriter(const StageContext& context) : context_(context), sorter_(context.space) {}
  void Add(std::string_view id_bytes, uint64_t local);
  Status Write(SnapshotWriter* writer);

 private:
  template <typename Local>
  Status WriteBuckets(SnapshotWriter* writer);

  const StageContext context_;
  RecordSorter sorter_;
  uint64_t num_ids_ = 0;
  uint64_t largest_local_ = 0;
};

// Calls check(local) for vertices that may have the id, until it says that one has, or an error.
template <typename Local, typename Check>
Status ProbeIdTable(const MappedSection& table, uint64_t num_ids, IdSlot slot, const Check& check) {
  const auto* const buckets = table.As<IdBucketOf<Local>>();
  for (uint64_t i = slot.Bucket(HomeBuckets(num_ids)); i < table.rows(); ++i) {
    RETURN_IF_ERROR(table.Touch(i, 1));
    for (size_t k = 0; k < kIdsPerBucket; ++k) {
      if (buckets[i].tags[k] != slot.tag()) continue;
      ASSIGN_OR_RETURN(const bool found, check(uint64_t{buckets[i].locals[k]}));
      if (found) return OkStatus();
    }
    if (buckets[i].passed == 0) return OkStatus();
  }
  return OkStatus();
}

}  // namespace koios::storage
