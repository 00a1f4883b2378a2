#include "engine/op/state/row_slices.h"

#include <algorithm>

#include "core/path/path.h"

namespace koios::engine {
namespace {

// What it costs to walk past an object of a path. What a function makes of the object is part of
// its result and counted there.
constexpr size_t kObjectBytes = 4;

// Of all that functions may look at in its values.
size_t FlatBytes(const Column& column) {
  if (column.kind() != Column::Kind::kValue) return column.FlatByteSize();
  size_t bytes = 0;
  for (size_t row = 0; row < column.size(); ++row) {
    const Value& value = column.ValueAt(row);
    const bool path = value.kind() == ValueKind::kPath;
    bytes += path ? value.ByteSize() + value.AsPath().length() * kObjectBytes : value.FlatBytes();
  }
  return bytes;
}

}  // namespace

// The bytes of a result that is one constant for all rows count for each of them: they come out.
size_t RowSlices::CostOf(const Evaluation& evaluation, size_t rows) const {
  size_t bytes = 0;
  for (const Operand& operand : evaluation.operands) {
    if (!operand.is_constant && operand.column != nullptr) bytes += FlatBytes(*operand.column);
  }
  const Operand& result = evaluation.operands.back();
  if (result.is_constant) bytes += rows * result.constant.FlatBytes();
  return std::max(bytes, nanos_ * (kCallBytes / kCallNanos));
}

void RowSlices::Learn(size_t rows, size_t bytes) {
  if (bytes > kCallBytes) {
    num_rows_ = std::max<size_t>(1, rows * kCallBytes / bytes);
  } else if (rows >= num_rows_ && bytes < kCallBytes / 2) {
    num_rows_ = std::min(2 * num_rows_, kBatchRows);
  }
}

// False: what these rows' elements have is too much for one call, and nothing is known of them.
StatusOr<bool> RowSlices::Proceed(const Batch& part, const EvalSources& sources,
                                  Evaluation* evaluation, const Operand** result) {
  storage::ReadBudget budget;
  EvalSources bounded = sources;
  bounded.reads = part.rows > 1 ? &budget : nullptr;
  const int64_t begin = sources.clock == nullptr ? 0 : sources.clock->NowNanos();
  const Status status = expression_.Proceed(part, bounded, evaluation, result);
  nanos_ = sources.clock == nullptr ? 0 : static_cast<size_t>(sources.clock->NowNanos() - begin);
  if (!budget.exceeded()) {
    RETURN_IF_ERROR(status);
    return true;
  }
  num_rows_ = storage::ReadBudget::Fewer(part.rows);
  *result = nullptr;
  return false;
}

StatusOr<RowSlices::Slice> RowSlices::Next(const Batch& input, const EvalSources& sources,
                                           size_t most, std::unique_ptr<StreamCursor>* cursor) {
  most = std::min(most, num_rows_);
  Slice slice;
  auto* at = static_cast<Cursor*>(cursor->get());
  bool fits = false;
  if (at == nullptr && input.rows <= most) {
    expression_.Begin(&evaluation_);
    ASSIGN_OR_RETURN(fits, Proceed(input, sources, &evaluation_, &slice.result));
  }
  if (fits) {
    if (slice.result != nullptr) {
      slice.end = input.rows;
      slice.whole = true;
      slice.bytes = CostOf(evaluation_, input.rows);
      Learn(input.rows, slice.bytes);
      return slice;
    }
    auto whole = std::make_unique<Cursor>();
    whole->whole = whole->open = true;
    whole->end = input.rows;
    std::swap(whole->evaluation, evaluation_);
    *cursor = std::move(whole);
    return slice;
  }
  if (at == nullptr) {
    *cursor = std::make_unique<Cursor>();
    at = static_cast<Cursor*>(cursor->get());
  }
  while (!fits) {
    if (!at->open) {
      at->begin = at->end;
      at->end = std::min(input.rows, at->begin + std::min(most, num_rows_));
      at->part = input.Slice(at->begin, at->end);
      expression_.Begin(&at->evaluation);
      at->open = true;
    }
    ASSIGN_OR_RETURN(
        fits, Proceed(at->whole ? input : at->part, sources, &at->evaluation, &slice.result));
    if (fits) break;
    at->end = at->begin;
    at->open = at->whole = false;
  }
  const Batch& part = at->whole ? input : at->part;
  slice.begin = at->begin;
  slice.end = at->end;
  slice.whole = at->whole;
  if (slice.result == nullptr) return slice;
  at->open = false;
  slice.bytes = CostOf(at->evaluation, part.rows);
  Learn(part.rows, slice.bytes);
  return slice;
}

bool RowSlices::SkipTo(size_t row, StreamCursor* cursor) {
  auto* at = static_cast<Cursor*>(cursor);
  if (at == nullptr) return false;
  if (at->open && at->begin >= row) return true;
  if (at->open && at->end > row) return false;
  at->open = at->whole = false;
  at->end = std::max(at->end, row);
  return true;
}

}  // namespace koios::engine
