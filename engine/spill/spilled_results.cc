#include "engine/spill/spilled_results.h"

#include <string>
#include <utility>

#include "engine/spill/row_block.h"

namespace koios::engine {

Status SpilledResults::Append(const ResultBatch& batch) {
  if (file_ == nullptr) {
    ASSIGN_OR_RETURN(file_, space_->Open(of_query_.get()));
  }
  Batch rows;
  rows.rows = batch.column.size();
  rows.slots = {batch.column};
  rows.bulk = batch.bulk;
  return PutInParts(rows, [this](const Batch& part) -> Status {
    ASSIGN_OR_RETURN(const uint64_t at, PutRows(part, "held-results-mb", file_.get()));
    written_.store(file_->written(), std::memory_order_relaxed);
    blocks_.push_back(at);
    return OkStatus();
  });
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
