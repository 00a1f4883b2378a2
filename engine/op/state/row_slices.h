// RowSlices: an expression over a batch, as many rows at a time as one call may work on. What a row
// holds shows only when it has been read, so the number of rows follows what the last ones were.
// Belongs to one operator; where it stands in a batch is in a cursor that the driver keeps.
#pragma once

#include <memory>
#include <utility>

#include "engine/op/operator.h"

namespace koios::engine {

class RowSlices {
 public:
  // Bytes of operands that one call looks at, about: no kernel needs long for so many, but for one
  // that divides numbers of thousands of digits. So much time counts as many.
  static constexpr size_t kCallBytes = 4 << 20;
  static constexpr size_t kCallNanos = 150'000;

  explicit RowSlices(Expression expression) : expression_(std::move(expression)) {}

  // The rows that are done by now, and their results.
  struct Slice {
    size_t begin = 0, end = 0;        // rows of the input
    const Operand* result = nullptr;  // by rows from `begin` on; null: not known yet
    Evaluation evaluation;            // that it lives in: nothing is kept between two batches
    size_t bytes = 0;                 // of all that was looked at, or time that counts as many
    bool whole = false;               // all rows of the input at once
  };

  // Goes on with the batch, at most `most` rows. Without a result this call is over.
  StatusOr<Slice> Next(const Batch& input, const EvalSources& sources, size_t most,
                       std::unique_ptr<StreamCursor>* cursor);
  // How many rows one call may ask about, by what the last ones were.
  size_t rows_at_once() const { return num_rows_; }
  // In the middle of a batch: its rows before `row` have no results any more. False: some of them
  // are being evaluated together with later ones.
  static bool SkipTo(size_t row, StreamCursor* cursor);

 private:
  // Twice as many each time, as long as they are small: the first one may be as large as a value
  // may be.
  static constexpr size_t kFirstRows = 1;

  struct Cursor : StreamCursor {
    Batch part;  // of the input, unless it is `whole`
    bool whole = false;
    bool open = false;  // rows [begin, end) are being evaluated
    size_t begin = 0, end = 0;
    Evaluation evaluation;
  };

  StatusOr<bool> Proceed(const Batch& part, const EvalSources& sources, Evaluation* evaluation,
                         const Operand** result);
  void Finish(Evaluation* evaluation, size_t rows, Slice* slice);
  void Learn(size_t rows, size_t bytes);

  const Expression expression_;
  size_t num_rows_ = kFirstRows;
  size_t nanos_ = 0;  // that the last call of Proceed() took
};

}  // namespace koios::engine
