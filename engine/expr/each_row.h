// The loop of kernels that go row by row.
#pragma once

#include <optional>
#include <utility>

#include "engine/expr/expression.h"

namespace koios::engine {

// Fills `out` with what `part(row)` gives, a StatusOr of an optional value: nullopt is absent. It
// is not asked of rows that `out` says are absent already.
template <typename Part>
Status EachRow(const EvalContext& context, Operand* out, const Part& part) {
  Column column;
  for (size_t row = 0; row < context.rows; ++row) {
    std::optional<Value> result;
    if (out->Present(row)) {
      ASSIGN_OR_RETURN(result, part(row));
      if (!result) {
        if (out->present.empty()) out->present.assign(context.rows, 1);
        out->present[row] = 0;
      }
    }
    column.Append(result ? *result : Value());
  }
  out->Own(std::move(column));
  return OkStatus();
}

}  // namespace koios::engine
