#include "engine/op/state/spilled_batch.h"

#include <string>

#include "engine/spill/row_block.h"
#include "engine/spill/spill_space.h"

namespace koios::engine {
namespace {

StatusOr<Batch> BatchOf(const std::string& block, OperatorHost* host, int64_t* charged) {
  ASSIGN_OR_RETURN(Batch rows, DecodeRows(block, host->account()));
  const auto bytes = static_cast<int64_t>(rows.ByteSize());
  RETURN_IF_ERROR(host->ChargeState(bytes));
  *charged = bytes;
  return rows;
}

}  // namespace

StatusOr<uint64_t> PutOnDisk(const Batch& rows, OperatorHost* host) {
  ASSIGN_OR_RETURN(SpillFile * file, host->spill_file());
  return PutRows(rows, "query-memory-mb", file);
}

StatusOr<Batch> TakeFromDisk(uint64_t at, OperatorHost* host, int64_t* charged) {
  ASSIGN_OR_RETURN(SpillFile * file, host->spill_file());
  ASSIGN_OR_RETURN(const std::string block, file->Take(at));
  return BatchOf(block, host, charged);
}

StatusOr<Batch> ReadFromDisk(uint64_t at, OperatorHost* host, int64_t* charged) {
  ASSIGN_OR_RETURN(SpillFile * file, host->spill_file());
  ASSIGN_OR_RETURN(const std::string block, file->Read(at));
  return BatchOf(block, host, charged);
}

}  // namespace koios::engine
