#include "engine/op/state/row_slices.h"

#include <algorithm>

namespace koios::engine {

// There is a result. Its bytes, where it is one constant for all rows, count for each of them: they
// come out.
void RowSlices::Finish(Evaluation* evaluation, size_t rows, Slice* slice) {
  size_t bytes = evaluation->looked_at;
  const Operand& result = evaluation->operands.back();
  if (result.is_constant) bytes += rows * result.constant.FlatBytes();
  slice->bytes = std::max(bytes, nanos_ * (kCallBytes / kCallNanos));
  slice->evaluation = std::move(*evaluation);
  Learn(rows, slice->bytes);
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
  Evaluation at_once;
  if (at == nullptr && input.rows <= most) {
    expression_.Begin(&at_once);
    ASSIGN_OR_RETURN(fits, Proceed(input, sources, &at_once, &slice.result));
  }
  if (fits) {
    if (slice.result != nullptr) {
      slice.end = input.rows;
      slice.whole = true;
      Finish(&at_once, input.rows, &slice);
      return slice;
    }
    auto whole = std::make_unique<Cursor>();
    whole->whole = whole->open = true;
    whole->end = input.rows;
    whole->evaluation = std::move(at_once);
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
  Finish(&at->evaluation, part.rows, &slice);
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
