#include "engine/op/row_ops.h"

#include "engine/expr/expression.h"

namespace koios::engine {
namespace {

class FilterOp : public StreamOperator {
 public:
  FilterOp(Expression predicate, OperatorHost* host)
      : predicate_(std::move(predicate)), host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    *done = true;
    RETURN_IF_ERROR(
        SelectRows(predicate_, input, host_->sources(), &scratch_, &output->origin, &output->bulk));
    output->identity = output->origin.size() == input.rows;
    output->has_bulk = !output->bulk.empty();
    return OkStatus();
  }
  bool keeps_cursor() const override { return false; }

 private:
  const Expression predicate_;
  OperatorHost* const host_;
  std::vector<Operand> scratch_;
};

class ProjectOp : public StreamOperator {
 public:
  ProjectOp(Expression expression, const plan::Project& op, OperatorHost* host)
      : expression_(std::move(expression)),
        slot_(static_cast<int>(op.slot())),
        absent_(op.absent()),
        host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    *done = true;
    const Operand* result = nullptr;
    RETURN_IF_ERROR(expression_.Evaluate(input, host_->sources(), &scratch_, &result));
    output->slot = slot_;
    if (!result->is_constant && result->present.empty()) {
      output->identity = true;
      output->column = *result->column;
      return OkStatus();
    }
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < input.rows; ++row) {
      if (result->Present(row)) rows.push_back(row);
    }
    if (absent_ == plan::Project::LEAVE_ABSENT && rows.size() < input.rows) {
      output->identity = true;
      for (uint32_t row = 0; row < input.rows; ++row) {
        if (result->Present(row)) {
          output->column.Append(result->Get(row));
        } else {
          output->column.AppendAbsent();
        }
      }
      return OkStatus();
    }
    if (absent_ == plan::Project::NULL_VALUE && rows.size() < input.rows) {
      output->identity = true;
      for (uint32_t row = 0; row < input.rows; ++row) {
        output->column.Append(result->Present(row) ? result->Get(row) : Value::Null());
      }
      return OkStatus();
    }
    if (result->is_constant) {
      for (size_t i = 0; i < rows.size(); ++i) output->column.Append(result->constant);
    } else {
      output->column.AppendGather(*result->column, rows);
    }
    output->identity = rows.size() == input.rows;
    output->origin = std::move(rows);
    return OkStatus();
  }
  bool keeps_cursor() const override { return false; }

 private:
  const Expression expression_;
  const int slot_;
  const plan::Project::Absent absent_;
  OperatorHost* const host_;
  std::vector<Operand> scratch_;
};

// Lists, sets, paths to members, maps to one-entry maps; anything else stays as it is.
class UnfoldOp : public StreamOperator {
 public:
  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    output->slot = 0;
    size_t bytes = 0;
    while (row_ < input.rows && output->origin.size() < output->limit && bytes < kBatchBytes) {
      const Value value = input.slots[0].Get(row_);
      const size_t count = Members(value);
      if (member_ < count) {
        const Value member = Member(value, member_++);
        bytes += member.ByteSize();
        output->column.Append(member);
        output->origin.push_back(static_cast<uint32_t>(row_));
      }
      if (member_ >= count) {
        member_ = 0;
        ++row_;
      }
    }
    *done = row_ >= input.rows;
    if (*done) row_ = 0;
    return OkStatus();
  }

 private:
  static size_t Members(const Value& value) {
    if (value.is_collection()) return value.AsList().size();
    if (value.kind() == ValueKind::kMap) return value.AsMap().size();
    if (value.kind() == ValueKind::kPath) return value.AsPath().objects.size();
    return 1;
  }

  static Value Member(const Value& value, size_t i) {
    if (value.is_collection()) return value.AsList()[i];
    if (value.kind() == ValueKind::kMap) return Value::Map({value.AsMap()[i]});
    if (value.kind() == ValueKind::kPath) return value.AsPath().objects[i];
    return value;
  }

  size_t row_ = 0;
  size_t member_ = 0;
};

}  // namespace

StatusOr<OperatorBundle> MakeFilter(const plan::Filter& op, uint32_t num_slots,
                                    OperatorHost* host) {
  ASSIGN_OR_RETURN(Expression predicate,
                   Expression::Bind(op.predicate(), num_slots, host->charge()));
  OperatorBundle bundle;
  bundle.stream = std::make_unique<FilterOp>(std::move(predicate), host);
  return bundle;
}

StatusOr<OperatorBundle> MakeProject(const plan::Project& op, uint32_t num_slots,
                                     OperatorHost* host) {
  ASSIGN_OR_RETURN(Expression expression, Expression::Bind(op.expr(), num_slots, host->charge()));
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
