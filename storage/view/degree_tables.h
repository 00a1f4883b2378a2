// DegreeTables: numbers of edge ends straight from the offsets of the snapshots' lists, without
// putting the vertices in order of their tables first. Belongs to one call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "storage/view/snapshot_set.h"
#include "storage/view/touched_rows.h"

namespace koios::storage {

class DegreeTables {
 public:
  // Empty `labels`: all.
  DegreeTables(const SnapshotSet& snapshots, const DeltaAt& at, Direction direction,
               std::span<const LabelId> labels);

  // Appends the numbers that the snapshots have, and to `touched` the positions (in `vertices`) of
  // those whose edges the delta has changed. False: nothing was appended, as some vertices are of a
  // partition of which not all has been checked.
  StatusOr<bool> Tell(std::span<const VertexRef> vertices, std::vector<int64_t>* out,
                      std::vector<uint32_t>* touched);

 private:
  struct Partition;
  // Whether the stretch of vertices is one of rows of one table, which the delta does not touch;
  // then their numbers have been added to `degrees`.
  bool TellStretch(std::span<const VertexRef> vertices, int64_t* degrees);
  Status DamageOf(uint32_t partition) const;

  struct Partition {
    bool is_open = false;
    bool wrong = false;                     // what stands there makes no sense
    const PartitionDelta* delta = nullptr;  // null: it has no ends of such edges
    std::optional<VertexPlaces> places;     // nothing: not to be read here
    // Of label set s: lengths_[first[s]] and those up to first[s + 1].
    std::vector<uint32_t> first;
  };

  void Open(uint32_t partition);
  bool AddLengths(uint32_t partition, uint32_t set);

  const SnapshotSet& snapshots_;
  const DeltaAt at_;
  const Direction direction_;
  const uint8_t touched_bits_;
  const std::span<const LabelId> asked_;
  const std::vector<LabelId> labels_;
  std::vector<Partition> partitions_;
  std::vector<ListLengths> lengths_;
};

}  // namespace koios::storage
