#include "engine/op/row_ops.h"

#include <algorithm>
#include <optional>

#include "core/path/path.h"
#include "engine/expr/expression.h"
#include "engine/op/state/row_slices.h"

namespace koios::engine {
namespace {

class FilterOp : public StreamOperator {
 public:
  FilterOp(Expression predicate, OperatorHost* host)
      : predicate_(std::move(predicate)), host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    *done = false;
    for (size_t bytes = 0; !*done && bytes < RowSlices::kCallBytes;) {
      ASSIGN_OR_RETURN(const RowSlices::Slice slice,
                       predicate_.Next(input, host_->sources(), kBatchRows, &output->cursor));
      if (slice.result == nullptr) break;
      const size_t before = output->origin.size();
      SelectRows(*slice.result, slice.end - slice.begin, &output->origin, &output->bulk);
      for (size_t i = before; i < output->origin.size(); ++i) {
        output->origin[i] += static_cast<uint32_t>(slice.begin);
      }
      *done = slice.end == input.rows;
      bytes += slice.bytes;
    }
    output->identity = output->origin.size() == input.rows;
    output->has_bulk = !output->bulk.empty();
    return OkStatus();
  }
  bool SkipTo(size_t row, StreamCursor* cursor) override { return RowSlices::SkipTo(row, cursor); }
  bool keeps_cursor() const override { return false; }

 private:
  RowSlices predicate_;
  OperatorHost* const host_;
};

class ProjectOp : public StreamOperator {
 public:
  ProjectOp(Expression expression, const plan::Project& op, OperatorHost* host)
      : expression_(std::move(expression)),
        slot_(static_cast<int>(op.slot())),
        absent_(op.absent()),
        host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    output->slot = slot_;
    *done = false;
    for (size_t bytes = 0; !*done && bytes < RowSlices::kCallBytes;) {
      ASSIGN_OR_RETURN(const RowSlices::Slice slice,
                       expression_.Next(input, host_->sources(), kBatchRows, &output->cursor));
      if (slice.result == nullptr) break;
      *done = slice.end == input.rows;
      bytes += slice.bytes;
      if (slice.whole && !slice.result->is_constant && slice.result->present.empty()) {
        output->identity = true;
        output->column = *slice.result->column;
        return OkStatus();
      }
      Add(slice, output);
    }
    output->identity = output->origin.size() == input.rows;
    return OkStatus();
  }
  bool SkipTo(size_t row, StreamCursor* cursor) override { return RowSlices::SkipTo(row, cursor); }
  bool keeps_cursor() const override { return false; }

 private:
  // The rows that come out, and their values behind those of earlier slices.
  void Add(const RowSlices::Slice& slice, OpOutput* output) const {
    const Operand& result = *slice.result;
    std::vector<uint32_t> rows;  // of the slice, that have a value
    for (uint32_t row = 0; row < slice.end - slice.begin; ++row) {
      const bool present = result.Present(row);
      if (!present && absent_ == plan::Project::DROP_ROW) continue;
      output->origin.push_back(static_cast<uint32_t>(slice.begin + row));
      if (present) rows.push_back(row);
    }
    if (rows.size() == slice.end - slice.begin || absent_ == plan::Project::DROP_ROW) {
      if (!result.is_constant) return Take(*result.column, rows, output);
      for (size_t i = 0; i < rows.size(); ++i) output->column.Append(result.constant);
      return;
    }
    for (uint32_t row = 0; row < slice.end - slice.begin; ++row) {
      if (result.Present(row)) {
        output->column.Append(result.Get(row));
      } else if (absent_ == plan::Project::LEAVE_ABSENT) {
        output->column.AppendAbsent();
      } else {
        output->column.Append(Value::Null());
      }
    }
  }

  static void Take(const Column& values, const std::vector<uint32_t>& rows, OpOutput* output) {
    if (!output->column.empty()) return output->column.AppendGather(values, rows);
    output->column = rows.size() == values.size() ? values : values.Gather(rows);
  }

  RowSlices expression_;
  const int slot_;
  const plan::Project::Absent absent_;
  OperatorHost* const host_;
};

// Lists, sets, paths to members, maps to one-entry maps; anything else stays as it is.
class UnfoldOp : public StreamOperator {
 public:
  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    output->slot = 0;
    size_t bytes = 0;
    while (row_ < input.rows && output->origin.size() < output->limit && bytes < kBatchBytes) {
      if (member_ == 0) Open(input.slots[0].Get(row_));
      const size_t count = Members();
      if (member_ < count) {
        ASSIGN_OR_RETURN(const Value member, Member(member_++));
        bytes += member.ByteSize();
        output->column.Append(member);
        output->origin.push_back(static_cast<uint32_t>(row_));
      }
      if (member_ >= count) {
        Open({});
        member_ = 0;
        ++row_;
      }
    }
    *done = row_ >= input.rows;
    if (*done) row_ = 0;
    return OkStatus();
  }

  bool SkipTo(size_t row, StreamCursor*) override {
    if (row > row_) {
      Open({});
      member_ = 0;
    }
    row_ = std::max(row_, row);
    return true;
  }

 private:
  void Open(Value value) {
    path_.reset();
    value_ = std::move(value);
    if (value_.kind() == ValueKind::kPath) path_.emplace(value_.AsPath());
  }

  size_t Members() const {
    if (value_.is_collection()) return value_.AsList().size();
    if (value_.kind() == ValueKind::kMap) return value_.AsMap().size();
    return path_.has_value() ? path_->size() : 1;
  }

  StatusOr<Value> Member(size_t i) const {
    if (value_.is_collection()) return value_.AsList()[i];
    if (value_.kind() == ValueKind::kMap) return Value::Map({value_.AsMap()[i]});
    return path_.has_value() ? (*path_)[i] : value_;
  }

  size_t row_ = 0;
  size_t member_ = 0;
  Value value_;  // of the row
  std::optional<PathObjects> path_;
};

}  // namespace

StatusOr<OperatorBundle> MakeFilter(const plan::Filter& op, uint32_t num_slots,
                                    OperatorHost* host) {
  ASSIGN_OR_RETURN(Expression predicate,
                   Expression::Bind(op.predicate(), num_slots, host->account().get()));
  OperatorBundle bundle;
  bundle.stream = std::make_unique<FilterOp>(std::move(predicate), host);
  return bundle;
}

StatusOr<OperatorBundle> MakeProject(const plan::Project& op, uint32_t num_slots,
                                     OperatorHost* host) {
  ASSIGN_OR_RETURN(Expression expression,
                   Expression::Bind(op.expr(), num_slots, host->account().get()));
  if (op.slot() >= num_slots) return Internal("The plan writes a slot that does not exist.");
  OperatorBundle bundle;
  bundle.stream = std::make_unique<ProjectOp>(std::move(expression), op, host);
  return bundle;
}

OperatorBundle MakeUnfold() {
  OperatorBundle bundle;
  bundle.stream = std::make_unique<UnfoldOp>();
  return bundle;
}

}  // namespace koios::engine
