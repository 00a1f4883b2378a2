#include "engine/op/state/spilled_runs.h"

#include <algorithm>
#include <utility>

#include "core/memory.h"
#include "engine/op/state/sort_keys.h"
#include "engine/op/state/spilled_batch.h"
#include "engine/spill/row_block.h"
#include "engine/spill/spill_space.h"

namespace koios::engine {
namespace {

// INT64_MAX: or more.
int64_t BulkOf(const Batch& rows) {
  int64_t sum = static_cast<int64_t>(rows.rows);
  if (rows.bulk.empty()) return sum;
  sum = 0;
  for (const int64_t bulk : rows.bulk) {
    if (__builtin_add_overflow(sum, bulk, &sum)) return INT64_MAX;
  }
  return sum;
}

// The last rows, whose bulk adds up to `bulk`.
Batch NewestOf(const Batch& rows, int64_t bulk) {
  size_t begin = rows.rows;
  int64_t part = 0;  // of the row at `begin`
  for (int64_t left = bulk; left > 0 && begin > 0; left -= part) {
    part = std::min(left, rows.BulkAt(--begin));
  }
  Batch newest = rows.Slice(begin, rows.rows);
  if (newest.rows > 0 && part < newest.BulkAt(0)) newest.bulk[0] = part;
  return newest;
}

}  // namespace

SpilledRuns::~SpilledRuns() {
  for (const Cursor& cursor : cursors_) {
    (void)host_->ChargeState(-cursor.charged);
    DropBlocks(cursor.blocks);
  }
  for (size_t i = next_run_; i < runs_.size(); ++i) DropBlocks(runs_[i]);
  for (const Run& run : merged_) DropBlocks(run);
  DropBlocks(writing_);
}

void SpilledRuns::DropBlocks(const Run& run) {
  const StatusOr<SpillFile*> file = host_->spill_file();
  for (size_t i = 0; file.ok() && i < run.size(); ++i) (*file)->Drop(run[i].at);
}

size_t SpilledRuns::BlockBytes(const OperatorHost& host) {
  constexpr int64_t kLeast = 4096;
  const int64_t share = host.account()->limit() / (16 * static_cast<int64_t>(kFanIn));
  return static_cast<size_t>(std::clamp(share, kLeast, static_cast<int64_t>(kBatchBytes)));
}

Status SpilledRuns::Append(const Batch& rows) {
  return PutInParts(rows, [this](const Batch& part) -> Status {
    ASSIGN_OR_RETURN(const uint64_t at, PutOnDisk(part, host_));
    writing_.push_back({at, KeepsNewest() ? BulkOf(part) : 0});
    if (KeepsNewest()) DropOldest();
    return OkStatus();
  });
}

// Whole blocks, as long as enough stays.
void SpilledRuns::DropOldest() {
  bulk_ += writing_.back().bulk;
  const StatusOr<SpillFile*> file = host_->spill_file();
  while (file.ok() && !writing_.empty() && bulk_ - writing_.front().bulk >= newest_) {
    bulk_ -= writing_.front().bulk;
    (*file)->Drop(writing_.front().at);
    writing_.pop_front();
  }
}

StatusOr<Batch> SpilledRuns::Read(size_t block, int64_t* charged) const {
  return ReadFromDisk(writing_[block].at, host_, charged);
}

void SpilledRuns::EndRun() {
  if (writing_.empty()) return;
  runs_.push_back(std::exchange(writing_, {}));
}

StatusOr<bool> SpilledRuns::Load(Cursor* cursor) {
  (void)host_->ChargeState(-std::exchange(cursor->charged, 0));
  cursor->batch = {};
  cursor->row = 0;
  if (cursor->blocks.empty()) return false;
  const Block block = cursor->blocks.front();
  cursor->blocks.pop_front();
  ASSIGN_OR_RETURN(cursor->batch, TakeFromDisk(block.at, host_, &cursor->charged));
  if (bulk_ > newest_) {  // of the oldest block not all
    const absl::int128 wanted = newest_ - (bulk_ - block.bulk);
    cursor->batch = NewestOf(cursor->batch, static_cast<int64_t>(wanted));
    bulk_ = newest_;
  }
  ReadKeys(cursor);
  return true;
}

void SpilledRuns::ReadKeys(Cursor* cursor) const {
  cursor->keys.resize(keys_->size());
  for (size_t k = 0; k < keys_->size(); ++k) {
    cursor->keys[k] = cursor->batch.slots[num_slots_ + k].Get(cursor->row);
  }
}

bool SpilledRuns::ComesBefore(uint32_t a, uint32_t b) const {
  for (size_t k = 0; k < keys_->size(); ++k) {
    const std::strong_ordering order =
        CompareSortKeys((*keys_)[k], cursors_[a].keys[k], cursors_[b].keys[k]);
    if (order != std::strong_ordering::equal) return order == std::strong_ordering::less;
  }
  return a < b;
}

// The next runs of this pass, or all runs when they are few enough: so many as have a block each in
// memory.
Status SpilledRuns::OpenNext() {
  if (next_run_ == runs_.size() && !merged_.empty()) {
    runs_ = std::exchange(merged_, {});
    next_run_ = 0;
  }
  constexpr int64_t kShare = 8;
  const int64_t room = host_->account()->limit() / kShare;
  int64_t loaded = 0;
  cursors_.clear();
  while (next_run_ < runs_.size() && cursors_.size() < kFanIn &&
         (cursors_.size() < 2 || loaded < room)) {
    Cursor& cursor = cursors_.emplace_back();
    cursor.blocks = std::move(runs_[next_run_++]);
    ASSIGN_OR_RETURN(const bool has_rows, Load(&cursor));
    if (has_rows) heap_.push_back(static_cast<uint32_t>(cursors_.size() - 1));
    loaded += cursor.charged;
  }
  is_last_ = merged_.empty() && next_run_ == runs_.size();
  const auto later = [this](uint32_t a, uint32_t b) { return ComesBefore(b, a); };
  std::make_heap(heap_.begin(), heap_.end(), later);
  return OkStatus();
}

Status SpilledRuns::MergeSome(Batch* output) {
  const auto later = [this](uint32_t a, uint32_t b) { return ComesBefore(b, a); };
  const size_t most_bytes = BlockBytes(*host_);
  size_t bytes = 0;
  std::vector<uint32_t> picked;  // of the cursor on top
  const auto is_full = [&] {
    return output->rows + picked.size() >= kBatchRows || bytes >= most_bytes;
  };
  while (!heap_.empty() && !is_full()) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const uint32_t top = heap_.back();
    Cursor& cursor = cursors_[top];
    heap_.pop_back();
    const bool fits = output->rows == 0 || output->SameShape(cursor.batch);
    bool more = true;
    while (fits && more && !is_full()) {
      bytes += cursor.batch.RowBytes(cursor.row);
      picked.push_back(static_cast<uint32_t>(cursor.row));
      if (++cursor.row == cursor.batch.rows) {
        output->AppendRows(cursor.batch, picked);
        picked.clear();
        ASSIGN_OR_RETURN(more, Load(&cursor));
        break;  // it may be of another shape
      }
      ReadKeys(&cursor);
      if (!heap_.empty() && !ComesBefore(top, heap_.front())) break;
    }
    if (!picked.empty()) output->AppendRows(cursor.batch, picked);
    picked.clear();
    if (more) {
      heap_.push_back(top);
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
    if (!fits) return OkStatus();
  }
  return OkStatus();
}

Status SpilledRuns::Merge(Batch* output, bool* done) {
  *done = false;
  if (heap_.empty()) {
    EndRun();
    RETURN_IF_ERROR(OpenNext());
  }
  if (is_last_) {
    RETURN_IF_ERROR(MergeSome(output));
    if (!keys_->empty() && output->rows > 0) output->slots.resize(num_slots_);
    *done = heap_.empty();
    return OkStatus();
  }
  Batch rows;
  RETURN_IF_ERROR(MergeSome(&rows));
  if (rows.rows > 0) RETURN_IF_ERROR(Append(rows));
  if (heap_.empty()) merged_.push_back(std::exchange(writing_, {}));
  return OkStatus();
}

}  // namespace koios::engine
