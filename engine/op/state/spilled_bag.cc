#include "engine/op/state/spilled_bag.h"

#include <algorithm>

#include "engine/op/state/spilled_batch.h"
#include "engine/op/state/spilled_runs.h"
#include "engine/spill/spill_space.h"

namespace koios::engine {

StatusOr<size_t> SpilledBag::Append(const ValueList& members, size_t begin) {
  const size_t most_bytes = SpilledRuns::BlockBytes(*host_);
  Batch rows;
  size_t next = begin;
  for (size_t bytes = 0; next < members.size() && rows.rows < kBatchRows && bytes < most_bytes;) {
    bytes += members[next].ByteSize();
    rows.AppendCurrent(members[next++]);
  }
  ASSIGN_OR_RETURN(const uint64_t at, PutOnDisk(rows, host_));
  blocks_.push_back({at, size() + rows.rows});
  return next;
}

Status SpilledBag::Read(size_t first, ValueList* members) const {
  const auto block =
      std::upper_bound(blocks_.begin(), blocks_.end(), first,
                       [](size_t member, const Block& one) { return member < one.end; });
  int64_t charged = 0;
  ASSIGN_OR_RETURN(const Batch rows, ReadFromDisk(block->at, host_, &charged));
  for (size_t row = rows.rows - (block->end - first); row < rows.rows; ++row) {
    members->push_back(rows.slots[0].Get(row));
  }
  return host_->ChargeState(-charged);
}

void SpilledBag::Drop() {
  const StatusOr<SpillFile*> file = host_->spill_file();
  for (size_t i = 0; file.ok() && i < blocks_.size(); ++i) (*file)->Drop(blocks_[i].at);
  blocks_.clear();
}

}  // namespace koios::engine
