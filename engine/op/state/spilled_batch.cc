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

StatusOr<uint64_t> PutOnDisk(const Batch& rows, OperatorHost* host) {
  if (const size_t bytes = FlatBytes(rows); bytes > kMostOnDisk) {
    return TooManyBytes("A row of " + std::to_string(bytes) +
                            " bytes, with all that stands in it many times over, is too large to "
                            "be put on disk.",
                        "ROW_TOO_LARGE", bytes, kMostOnDisk,
                        "Ask for less at once, or give the query memory, so that the row stays "
                        "there.",
                        "query-memory-mb");
  }
  ASSIGN_OR_RETURN(SpillFile * file, host->spill_file());
  return file->Append(EncodeRows(rows));
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
