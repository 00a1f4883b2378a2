#include "engine/op/state/spilled_batch.h"

#include <string>
#include <utility>

#include "engine/exchange/frame.h"
#include "engine/spill/spill_space.h"

namespace koios::engine {
namespace {

StatusOr<Batch> BatchOf(const std::string& block, OperatorHost* host, int64_t* charged) {
  ASSIGN_OR_RETURN(Frame frame, DecodeFrame(block, /*views=*/nullptr));
  if (frame.paths != nullptr) RETURN_IF_ERROR(frame.paths->Bind(host->account()));
  const auto bytes = static_cast<int64_t>(frame.batch.ByteSize());
  RETURN_IF_ERROR(host->ChargeState(bytes));
  *charged = bytes;
  frame.batch.runs.clear();
  return std::move(frame.batch);
}

}  // namespace

StatusOr<uint64_t> PutOnDisk(const Batch& rows, OperatorHost* host) {
  Frame frame;
  frame.batch = rows;
  frame.batch.runs = {{{}, {}, static_cast<uint32_t>(rows.rows), 0}};  // all rows are of some run
  ASSIGN_OR_RETURN(SpillFile * file, host->spill_file());
  return file->Append(EncodeFrame(frame, /*with_start=*/false));
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
