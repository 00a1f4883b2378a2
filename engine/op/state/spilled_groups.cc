#include "engine/op/state/spilled_groups.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/value_compare.h"
#include "engine/account/charge_ahead.h"
#include "engine/op/state/spilled_batch.h"
#include "engine/op/state/spilled_runs.h"
#include "engine/spill/spill_space.h"

namespace koios::engine {
namespace {

constexpr size_t kSliceGroups = 2048;
constexpr int kWayBits = 4;
static_assert(SpilledGroups::kWays == 1 << kWayBits);

uint32_t WayOf(const Value& key, uint32_t depth) {
  return static_cast<uint32_t>(EquivalenceHash(key) >> (kWayBits * depth)) % SpilledGroups::kWays;
}

}  // namespace

SpilledGroups::~SpilledGroups() {
  (void)host_->ChargeState(-charged_);
  const StatusOr<SpillFile*> file = host_->spill_file();
  if (!file.ok()) return;
  for (size_t i = next_block_; i < part_.blocks.size(); ++i) (*file)->Drop(part_.blocks[i]);
  for (const std::vector<Part>* parts : {&parts_, &divided_}) {
    for (const Part& part : *parts) {
      for (const uint64_t at : part.blocks) (*file)->Drop(at);
    }
  }
}

int64_t SpilledGroups::WriteBytes(const OperatorHost& host) {
  return static_cast<int64_t>(kWays * SpilledRuns::BlockBytes(host));
}

Status SpilledGroups::BeginWriting() {
  block_bytes_ = SpilledRuns::BlockBytes(*host_);
  const int64_t bytes = WriteBytes(*host_);
  RETURN_IF_ERROR(host_->ChargeState(bytes));
  charged_ = bytes;
  divided_.resize(kWays);
  open_.resize(kWays);
  open_bytes_.resize(kWays);
  for (Part& part : divided_) part.depth = part_.depth + 1;
  return OkStatus();
}

StatusOr<bool> SpilledGroups::Write(GroupTable* table, size_t* next) {
  if (divided_.empty()) RETURN_IF_ERROR(BeginWriting());
  const size_t end = std::min(table->size(), *next + kSliceGroups);
  size_t written = 0;
  while (*next < end && written < kBatchBytes) {
    const Value& key = table->KeyAt(*next);
    const uint32_t way = WayOf(key, part_.depth);
    // Who counts has no list.
    const int64_t count = is_begun_ ? 1 : table->CountAt(*next);
    if (count == 0) {  // its first row had no room, and will come again
      ++*next;
      continue;
    }
    ASSIGN_OR_RETURN(const std::optional<Value> saved, SavePiece(table, *next));
    if (!is_begun_) ++*next;
    Batch& rows = open_[way];
    rows.slots.resize(2);
    rows.slots[0].Append(key);
    if (saved.has_value()) {
      rows.slots[1].Append(*saved);
    } else {
      rows.slots[1].AppendAbsent();
    }
    rows.bulk.push_back(count);
    ++rows.rows;
    const size_t bytes = key.ByteSize() + (saved.has_value() ? saved->ByteSize() : 0);
    written += bytes;
    open_bytes_[way] += bytes + sizeof(int64_t);
    if (open_bytes_[way] >= block_bytes_) RETURN_IF_ERROR(EndBlock(way));
  }
  if (*next < table->size()) return false;
  // What is in memory is the next table's.
  for (uint32_t way = 0; way < kWays; ++way) RETURN_IF_ERROR(EndBlock(way));
  return true;
}

// A list goes in pieces of a block or so.
StatusOr<std::optional<Value>> SpilledGroups::SavePiece(GroupTable* table, size_t group) {
  if (!saved_.has_value()) {
    ASSIGN_OR_RETURN(saved_, table->SaveAt(group));
  }
  if (kind_ != plan::Group::LIST) return std::exchange(saved_, std::nullopt);
  const ValueList& list = saved_->AsList();
  ValueList piece;
  for (size_t bytes = 0; saved_next_ < list.size() && bytes < block_bytes_; ++saved_next_) {
    piece.push_back(list[saved_next_]);
    bytes += piece.back().ByteSize();
  }
  if (saved_next_ == list.size()) {
    saved_.reset();
    saved_next_ = 0;
  }
  is_begun_ = saved_.has_value() || table->has_more_to_save();
  ASSIGN_OR_RETURN(Value value, Value::List(std::move(piece)));
  return std::optional<Value>(std::move(value));
}

Status SpilledGroups::EndBlock(uint32_t way) {
  if (open_[way].rows == 0) return OkStatus();
  ASSIGN_OR_RETURN(const uint64_t at, PutOnDisk(open_[way], host_));
  divided_[way].blocks.push_back(at);
  open_[way] = Batch();
  open_bytes_[way] = 0;
  return OkStatus();
}

StatusOr<bool> SpilledGroups::NextPart() {
  for (Part& part : divided_) {
    if (!part.blocks.empty()) parts_.push_back(std::move(part));
  }
  divided_.clear();
  (void)host_->ChargeState(-std::exchange(charged_, 0));
  next_block_ = 0;
  part_.blocks.clear();
  if (parts_.empty()) return false;
  part_ = std::move(parts_.back());
  parts_.pop_back();
  return true;
}

Status SpilledGroups::ReadSome(GroupTable* table, ChargeAhead* charge) {
  int64_t charged = 0;
  ASSIGN_OR_RETURN(const Batch rows, TakeFromDisk(part_.blocks[next_block_++], host_, &charged));
  Status status;
  if (rows.slots.size() != 2) status = DataLoss("Groups that were put on disk are none any more.");
  for (size_t row = 0; row < rows.rows && status.ok(); ++row) {
    std::optional<Value> saved;
    if (rows.Has(1) && !rows.slots[1].IsAbsent(row)) saved = rows.slots[1].Get(row);
    status = table->Restore(rows.slots[0].Get(row), saved, rows.BulkAt(row), charge);
  }
  (void)host_->ChargeState(-charged);
  return status;
}

}  // namespace koios::engine
