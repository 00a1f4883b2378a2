#include "engine/spill/row_block.h"

#include <cstdint>
#include <utility>

#include "engine/exchange/frame.h"

namespace koios::engine {
namespace {

std::string EncodeRows(const Batch& rows) {
  Frame frame;
  frame.batch = rows;
  frame.batch.runs = {{{}, {}, static_cast<uint32_t>(rows.rows), 0}};  // all rows are of some run
  return EncodeFrame(frame, /*with_start=*/false);
}

}  // namespace

// Of plain paths a block has what they begin with once.
size_t FlatBytes(const Batch& rows) {
  size_t bytes = 0;
  for (const Column& column : rows.slots) {
    if (column.kind() != Column::Kind::kValue) {
      bytes += column.FlatByteSize();
      continue;
    }
    bytes += PathBytes(column);
    for (size_t row = 0; row < column.size(); ++row) {
      const Value& value = column.ValueAt(row);
      const bool is_plain = value.kind() == ValueKind::kPath && value.depth() == 1;
      bytes += is_plain ? sizeof(Value) : value.FlatBytes();
    }
  }
  return bytes;
}

Status PutInParts(const Batch& rows, const std::function<Status(const Batch& part)>& put) {
  if (rows.rows <= 1 || FlatBytes(rows) <= 4 * kBatchBytes) return put(rows);
  const size_t half = rows.rows / 2;
  RETURN_IF_ERROR(PutInParts(rows.Slice(0, half), put));
  return PutInParts(rows.Slice(half, rows.rows), put);
}

StatusOr<uint64_t> PutRows(const Batch& rows, const char* setting, SpillFile* file) {
  if (const size_t bytes = FlatBytes(rows); bytes > kMostOnDisk) {
    return TooManyBytes("A row of " + std::to_string(bytes) +
                            " bytes, with all that stands in it many times over, is too large to "
                            "be put on disk.",
                        "ROW_TOO_LARGE", bytes, kMostOnDisk,
                        "Ask for less at once, or give it memory, so that the row stays there.",
                        setting);
  }
  return file->Append(EncodeRows(rows));
}

StatusOr<Batch> DecodeRows(std::string_view block, const std::shared_ptr<MemoryAccount>& account) {
  ASSIGN_OR_RETURN(Frame frame, DecodeFrame(block, /*views=*/nullptr));
  if (frame.paths != nullptr) RETURN_IF_ERROR(frame.paths->Bind(account));
  frame.batch.runs.clear();
  return std::move(frame.batch);
}

}  // namespace koios::engine
