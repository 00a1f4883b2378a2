#include "engine/spill/spilled_results.h"

#include <string>
#include <utility>

#include "engine/spill/row_block.h"

namespace koios::engine {

Status SpilledResults::Append(const ResultBatch& batch) {
  if (file_ == nullptr) {
    ASSIGN_OR_RETURN(file_, space_->Open());
  }
  Batch rows;
  rows.rows = batch.column.size();
  rows.slots = {batch.column};
  rows.bulk = batch.bulk;
  ASSIGN_OR_RETURN(const uint64_t at, file_->Append(EncodeRows(rows)));
  blocks_.push_back(at);
  return OkStatus();
}

StatusOr<ResultBatch> SpilledResults::Take(const std::shared_ptr<MemoryAccount>& account) {
  const uint64_t at = blocks_.front();
  blocks_.pop_front();
  ASSIGN_OR_RETURN(const std::string block, file_->Take(at));
  ASSIGN_OR_RETURN(Batch rows, DecodeRows(block, account));
  if (!rows.Has(0)) return DataLoss("Results that were put on disk are none any more.");
  ResultBatch batch;
  batch.column = std::move(rows.slots[0]);
  batch.bulk = std::move(rows.bulk);
  return batch;
}

}  // namespace koios::engine
