// What operators that change the graph evaluate of their batches, and how many rows at once.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/expr/each_row.h"
#include "engine/expr/expression.h"
#include "engine/op/operator.h"

namespace koios::engine {

// An expression with the room that its results live in.
class RowInput {
 public:
  static StatusOr<RowInput> Bind(const plan::Expr& expr, uint32_t num_slots, OperatorHost* host) {
    RowInput input;
    ASSIGN_OR_RETURN(input.expression_, Expression::Bind(expr, num_slots, host->account().get()));
    return input;
  }
  Status Evaluate(const Batch& batch, const EvalSources& sources) {
    return expression_.Evaluate(batch, sources, &scratch_, &result_);
  }
  bool Present(size_t row) const { return result_->Present(row); }
  Value Get(size_t row) const { return result_->Get(row); }
  bool is_constant() const { return result_->is_constant; }

 private:
  Expression expression_;
  std::vector<Operand> scratch_;
  const Operand* result_ = nullptr;
};

// The rows of a batch whose inputs are evaluated together: as many as have, of what they read, what
// fits a storage::ReadBudget; or one.
class Portion {
 public:
  // Those behind the last ones. `evaluate(rows, sources)` is called once more with fewer of them
  // where they were too many.
  template <typename Function>
  Status Next(const Batch& input, EvalSources sources, const Function& evaluate) {
    begin_ = end_;
    for (;;) {
      end_ = std::min(input.rows, begin_ + most_);
      const bool is_whole = begin_ == 0 && end_ == input.rows;
      if (!is_whole) rows_ = input.Slice(begin_, end_);
      storage::ReadBudget budget;
      sources.reads = end_ - begin_ > 1 ? &budget : nullptr;
      Status status = evaluate(is_whole ? input : rows_, sources);
      if (!budget.exceeded()) {
        most_ = std::min(2 * most_, kBatchRows);
        return status;
      }
      most_ = storage::ReadBudget::Fewer(end_ - begin_);
    }
  }
  size_t begin() const { return begin_; }
  size_t end() const { return end_; }
  void Restart() { end_ = 0; }

 private:
  size_t begin_ = 0, end_ = 0;  // in the batch
  size_t most_ = kBatchRows;
  Batch rows_;  // those, unless they are all of it
};

// The rows of a batch that are changes: as many in a call as there is time for.
class ChangesOfBatch {
 public:
  // `evaluate` is for Portion; change(row, its place in the portion), a Status. True: all are done,
  // and another batch may come.
  template <typename Evaluate, typename Change>
  StatusOr<bool> Go(const Batch& input, OperatorHost* host, const Evaluate& evaluate,
                    const Change& change) {
    RowsOfCall call(&host->clock());
    while (row_ < input.rows) {
      if (row_ == portion_.end()) {
        RETURN_IF_ERROR(portion_.Next(input, host->sources(), evaluate));
      }
      while (row_ < portion_.end()) {
        RETURN_IF_ERROR(change(row_, row_ - portion_.begin()));
        ++row_;
        if (call.IsOver() && row_ < input.rows) return false;
      }
    }
    row_ = 0;
    portion_.Restart();
    return true;
  }

 private:
  Portion portion_;
  size_t row_ = 0;
};

}  // namespace koios::engine
