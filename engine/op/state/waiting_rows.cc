#include "engine/op/state/waiting_rows.h"

#include <utility>

namespace koios::engine {

Status WaitingRows::ChargeBatch(const Batch& batch) {
  const int64_t bytes = batch.rows == 0 ? 0 : static_cast<int64_t>(batch.ByteSize());
  RETURN_IF_ERROR(host_->ChargeState(bytes - charged_));
  charged_ = bytes;
  return OkStatus();
}

Status WaitingRows::Add(const Batch& batch, const std::vector<uint32_t>& picked,
                        const std::vector<KeyCode>& codes) {
  if (open_.rows > 0 && !open_.SameShape(batch)) RETURN_IF_ERROR(PutOpen());
  open_.AppendRows(batch, picked);
  open_.bulk.clear();  // one of each passes
  RETURN_IF_ERROR(ChargeBatch(open_));
  for (const KeyCode& code : codes) RETURN_IF_ERROR(keys_->Add({code, num_rows_++}));
  return open_.ByteSize() < SpilledRuns::BlockBytes(*host_) ? OkStatus() : PutOpen();
}

Status WaitingRows::PutOpen() {
  if (open_.rows > 0) RETURN_IF_ERROR(rows_.Append(open_));
  open_ = {};
  return ChargeBatch(open_);
}

Status WaitingRows::Fire(SpilledKeys* met, Batch* output, bool* done) {
  *done = false;
  switch (stage_) {
    case Stage::kSort: {
      RETURN_IF_ERROR(PutOpen());
      ASSIGN_OR_RETURN(const bool sorted, keys_->Prepare());
      if (!sorted) return OkStatus();
      RETURN_IF_ERROR(met->BeginTaking());
      ASSIGN_OR_RETURN(has_met_, met->TakeNext(&met_));
      passing_.emplace(host_);
      stage_ = Stage::kSift;
      return OkStatus();
    }
    case Stage::kSift:
      return SiftSome(met);
    case Stage::kOrder: {
      ASSIGN_OR_RETURN(const bool sorted, passing_->Prepare());
      if (!sorted) return OkStatus();
      uint64_t first = 0;
      ASSIGN_OR_RETURN(const bool any, passing_->Next(&first));
      if (any) next_ = first;
      *done = !any;
      stage_ = Stage::kGive;
      return OkStatus();
    }
    case Stage::kGive:
      return GiveSome(output, done);
  }
  return OkStatus();
}

// The first row of each key passes, where that is not among those met: both come in order.
Status WaitingRows::SiftSome(SpilledKeys* met) {
  for (size_t left = kSliceRecords; left > 0; --left) {
    if (!row_.has_value()) {
      Numbered row;
      ASSIGN_OR_RETURN(const bool more, keys_->Next(&row));
      if (!more) {
        keys_.reset();
        stage_ = Stage::kOrder;
        return OkStatus();
      }
      row_ = row;
    }
    const KeyCode& code = row_->code;
    if (has_met_ && met_ < code) {
      ASSIGN_OR_RETURN(has_met_, met->TakeNext(&met_));
      continue;
    }
    const bool is_new = last_ != code && !(has_met_ && met_ == code);
    if (is_new) RETURN_IF_ERROR(passing_->Add(row_->number));
    last_ = code;
    row_.reset();
  }
  return OkStatus();
}

// The rows of one block.
Status WaitingRows::GiveSome(Batch* output, bool* done) {
  begin_ += batch_.rows;
  batch_ = {};
  bool are_all = false;
  RETURN_IF_ERROR(rows_.Merge(&batch_, &are_all));
  RETURN_IF_ERROR(ChargeBatch(batch_));
  std::vector<uint32_t> picked;
  while (next_.has_value() && *next_ < begin_ + batch_.rows) {
    picked.push_back(static_cast<uint32_t>(*next_ - begin_));
    uint64_t next = 0;
    ASSIGN_OR_RETURN(const bool more, passing_->Next(&next));
    next_ = more ? std::optional(next) : std::nullopt;
  }
  if (!picked.empty()) output->AppendRows(batch_, picked);
  *done = !next_.has_value();
  if (are_all && !*done) return DataLoss("Rows that were put on disk are fewer than were written.");
  return OkStatus();
}

}  // namespace koios::engine
