#include "engine/spill/row_block.h"

#include <cstdint>
#include <utility>

#include "engine/exchange/frame.h"

namespace koios::engine {

std::string EncodeRows(const Batch& rows) {
  Frame frame;
  frame.batch = rows;
  frame.batch.runs = {{{}, {}, static_cast<uint32_t>(rows.rows), 0}};  // all rows are of some run
  return EncodeFrame(frame, /*with_start=*/false);
}

StatusOr<Batch> DecodeRows(std::string_view block, const std::shared_ptr<MemoryAccount>& account) {
  ASSIGN_OR_RETURN(Frame frame, DecodeFrame(block, /*views=*/nullptr));
  if (frame.paths != nullptr) RETURN_IF_ERROR(frame.paths->Bind(account));
  frame.batch.runs.clear();
  return std::move(frame.batch);
}

}  // namespace koios::engine
