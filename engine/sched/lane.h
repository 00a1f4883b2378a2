// Lane: what waits for an operator in one iteration of the loops around it. Each iteration has room
// of its own, and a cursor of its own, so that the deepest can always go on (engine rule 16):
// in `repeat(out()).emit()` the rows of iteration 5 do not wait for those of iteration 4.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/batch/fifo.h"
#include "engine/exchange/frame.h"
#include "engine/op/operator.h"
#include "engine/scope/weight.h"

namespace koios::engine {

// Rows waiting for, or worked on by, an operator.
struct Input {
  Batch batch;
  std::optional<uint64_t> stored;  // where its rows are on disk; `batch` has its runs then
  bool stays = false;              // in memory: it would come back larger
  int64_t charged = 0;
  bool remote = false;
  uint32_t from = 0;  // remote: the sender, its Exchange,
  uint32_t exchange = 0;
  Loops iteration;               // the iteration whose window it is in,
  FrameCredit credit;            // and what it came by
  std::vector<WeightPool> left;  // per run, once worked on by an operator that gives them piece
                                 // by piece
  size_t run = 0;                // the first that may still give rows: those before gave all,
  uint32_t run_begin = 0;        // and its first row
  // The next traverser that enters a serial scope, or row that leaves a scope.
  struct Cursor {
    size_t run = 0;
    uint32_t in_run = 0;  // rows of the run that are through
    uint32_t row = 0;
    int64_t copy = 0;  // of the row's bulk
  };
  Cursor cursor;

  // Of `rows` that wait.
  static int64_t BytesOf(const Batch& rows) {
    return static_cast<int64_t>(rows.ByteSize() + sizeof(Input) - sizeof(Batch));
  }
  // The weights of the runs can be given piece by piece from now on.
  void Divide() {
    left.reserve(batch.runs.size());
    for (const Run& one : batch.runs) left.emplace_back(one.k);
  }
};

struct Lane {
  bool empty() const { return queue.empty() && !active.has_value(); }

  Fifo<Input> queue;
  std::optional<Input> active;
  std::unique_ptr<StreamOperator> stream;  // in loops, for operators that keep a cursor only
  std::unique_ptr<StreamCursor> cursor;    // of `active`, for those that leave it to the driver
  uint32_t ordinal_row = UINT32_MAX;       // the input row that gave the last output row,
  uint32_t ordinal_next = 0;               // and how many it has given (ordinals only)
};

}  // namespace koios::engine
