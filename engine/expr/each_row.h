// The loops of kernels that go row by row.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "engine/expr/expression.h"

namespace koios::engine {

// The rows that were done in calls before.
struct RowsDone : FunctionProgress {
  Column column;
  size_t row = 0;  // the next one
  size_t HeldBytes() const override { return column.ByteSize(); }
};

// Says of each row whether a call has made enough by it, or has taken long enough.
class RowsOfCall {
 public:
  // `rows_per_look`: the clock is looked at behind so many.
  explicit RowsOfCall(const Clock* clock, size_t rows_per_look = kRowsPerLook)
      : clock_(clock),
        begin_(clock == nullptr ? 0 : clock->NowNanos()),
        rows_per_look_(rows_per_look) {}

  // Behind a row that made so many bytes: whether the next one is for another call.
  bool IsOver(size_t bytes = 0) {
    made_ += bytes;
    if (made_ > kMadeBytes) return true;
    if (++rows_ % rows_per_look_ != 0 && bytes < kLarge) return false;
    return clock_ != nullptr && clock_->NowNanos() - begin_ > kNanos;
  }

 private:
  static constexpr size_t kMadeBytes = 4 << 20;
  static constexpr size_t kRowsPerLook = 16;
  static constexpr size_t kLarge = 1024;  // who makes so much may need long
  static constexpr int64_t kNanos = 150'000;

  const Clock* const clock_;
  const int64_t begin_;
  const size_t rows_per_look_;
  size_t made_ = 0, rows_ = 0;
};

// Fills `out` with what `part(row)` gives, a StatusOr of an optional value: nullopt is absent. It
// is not asked of rows that `out` says are absent already. What rows make shows only when it is
// made: those that are too much for one call are left to the next.
template <typename Part>
Status EachRow(const EvalContext& context, Operand* out, const Part& part) {
  Column column;
  size_t row = 0;
  if (*context.progress != nullptr) {
    auto& done = static_cast<RowsDone&>(**context.progress);
    column = std::move(done.column);
    row = done.row;
  }
  RowsOfCall call(context.clock);
  while (row < context.rows) {
    std::optional<Value> result;
    if (out->Present(row)) {
      ASSIGN_OR_RETURN(result, part(row));
      if (!result) {
        if (out->present.empty()) out->present.assign(context.rows, 1);
        out->present[row] = 0;
      }
    }
    const size_t bytes = result ? result->ByteSize() : 0;
    column.Append(result ? *std::move(result) : Value());
    ++row;
    if (!call.IsOver(bytes) || row == context.rows) continue;
    if (*context.progress == nullptr) *context.progress = std::make_unique<RowsDone>();
    auto& done = static_cast<RowsDone&>(**context.progress);
    done.column = std::move(column);
    done.row = row;
    return OkStatus();
  }
  context.progress->reset();
  out->Own(std::move(column));
  return OkStatus();
}

// A comparison or a hash of a small value is work of 1: so much is a call.
inline constexpr size_t kWorkOfCall = 1 << 13;

// Of the members that a hash table or a list has room for.
template <typename Members>
size_t BytesOfRoom(const Members& members) {
  return members.capacity() * (sizeof(typename Members::value_type) + 1);
}

// Looks at a value: what it holds elsewhere in memory takes as much of the work as some numbers,
// what is large as so many.
inline void Spend(const Value& value, size_t* work) {
  constexpr size_t kBytesPerWork = 256, kElsewhere = 3;
  const size_t bytes = value.FlatBytes();
  *work -= std::min(*work, 1 + (bytes > sizeof(Value) ? kElsewhere : 0) + bytes / kBytesPerWork);
}

template <typename Part, typename... Args>
Status BeginPart(std::optional<Part>* part, Args&&... args) {
  part->emplace(std::forward<Args>(args)...);
  return OkStatus();
}

// As EachRow for parts of which one may be too much for one call: what `make(row, &part)` makes,
// where no part is absent, is asked for a StatusOr by Step(&work) until that is true,
// then for Result(), a StatusOr of a Value or, where it may be absent, of an optional; and between
// two calls for HeldBytes().
template <typename Part, typename Make>
Status EachRowInParts(const EvalContext& context, Operand* out, const Make& make) {
  struct Rows : RowsDone {
    std::optional<Part> part;  // of `row`
    size_t HeldBytes() const override {
      return RowsDone::HeldBytes() + (part.has_value() ? part->HeldBytes() : 0);
    }
  };
  if (*context.progress == nullptr) *context.progress = std::make_unique<Rows>();
  Rows& rows = *static_cast<Rows*>(context.progress->get());
  for (size_t work = kWorkOfCall; rows.row < context.rows; ++rows.row) {
    std::optional<Value> result;
    if (out->Present(rows.row)) {
      if (!rows.part.has_value()) {
        RETURN_IF_ERROR(make(rows.row, &rows.part));
      }
      if (rows.part.has_value()) {
        if (work == 0) return OkStatus();
        ASSIGN_OR_RETURN(const bool done, rows.part->Step(&work));
        if (!done) return OkStatus();
        ASSIGN_OR_RETURN(result, rows.part->Result());
        rows.part.reset();
      }
      if (!result.has_value()) {
        if (out->present.empty()) out->present.assign(context.rows, 1);
        out->present[rows.row] = 0;
      }
    }
    rows.column.Append(result.has_value() ? *std::move(result) : Value());
  }
  out->Own(std::move(rows.column));
  context.progress->reset();
  return OkStatus();
}

// A part of each row's first argument, made of its value and of what is the same for all.
template <typename Part, typename... Same>
Status EachValueInParts(const EvalContext& context, const std::vector<const Operand*>& args,
                        Operand* out, const Same&... same) {
  return EachRowInParts<Part>(context, out, [&](size_t row, std::optional<Part>* part) -> Status {
    return BeginPart(part, args[0]->Get(row), same...);
  });
}

// A value that is there already.
struct Ready {
  Value value;
  StatusOr<bool> Step(size_t* work) {
    *work -= 1;
    return true;
  }
  size_t HeldBytes() const { return value.ByteSize(); }
  StatusOr<Value> Result() { return std::move(value); }
};

// A part of one kind or another.
template <typename... Parts>
class OneOf {
 public:
  template <typename Part>
  explicit OneOf(Part part) : part_(std::move(part)) {}

  StatusOr<bool> Step(size_t* work) {
    return std::visit([work](auto& part) { return part.Step(work); }, part_);
  }
  size_t HeldBytes() const {
    return std::visit([](const auto& part) { return part.HeldBytes(); }, part_);
  }
  StatusOr<Value> Result() {
    return std::visit([](auto& part) { return part.Result(); }, part_);
  }

 private:
  std::variant<Parts...> part_;
};

}  // namespace koios::engine
