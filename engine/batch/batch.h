// Batch: up to kBatchRows rows in columns, the unit of work of every operator. A run is a stretch
// of rows of one instance and iteration that carries one weight, 2^-k (DESIGN 5.3); runs cover the
// rows in order. A batch belongs to one worker at a time.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/column.h"
#include "engine/batch/loops.h"

namespace koios::engine {

inline constexpr size_t kBatchRows = 1024;
inline constexpr size_t kBatchBytes = 256 * 1024;

// One run of a scope's body: the worker that owns it, and its number there. Serials are never
// reused; serial 0 is the root instance, the whole query.
struct InstanceId {
  uint32_t home = 0;
  uint64_t serial = 0;
  auto operator<=>(const InstanceId&) const = default;
};

struct Run {
  InstanceId instance;
  Loops loops;
  uint32_t count = 0;
  uint32_t k = 0;
};
static_assert(sizeof(Run) <= 40, "a batch may have as many runs as rows");

struct Batch {
  // slots[0] is the current value. A slot that is absent in these rows has no entries.
  std::vector<Column> slots;
  std::vector<int64_t> bulk;  // empty: all 1
  std::vector<Run> runs;
  size_t rows = 0;

  bool Has(size_t slot) const { return slot < slots.size() && slots[slot].size() == rows; }
  int64_t BulkAt(size_t row) const { return bulk.empty() ? 1 : bulk[row]; }
  size_t ByteSize() const;
  // What the slots of one row take, about.
  size_t RowBytes(size_t row) const;
  // Whether `other`'s rows can be appended: the same slots are present.
  bool SameShape(const Batch& other) const;

  // Appends `source`'s rows at `picked` (positions), without runs. REQUIRES: SameShape or rows ==
  // 0.
  void AppendRows(const Batch& source, const std::vector<uint32_t>& picked);
  // Rows [begin, end), with their runs. Shares the columns.
  Batch Slice(size_t begin, size_t end) const;
  // Appends a row that has a current value only, without a run.
  void AppendCurrent(const Value& value);
  // Adds a run for rows already appended. Joins the last run when that is of the same instance and
  // iteration and of equal weight: the joined run has twice the weight.
  void AppendRun(const Run& run);
};

// What the paths of the column hold, about. A path counts with the objects that it does not share
// with the path of the row before: in `V(1).out().out().path()` rows that share stand together. A
// few pairs of rows stand for all.
size_t PathBytes(const Column& column);
// As this, of the slots' columns and of so many of the rows.
int64_t PathBytes(const Batch& batch, std::span<const uint32_t> slots, size_t rows);

// How many rows a batch has, at most, when `rows` of them take `bytes`: at least one.
size_t RowLimit(size_t bytes, size_t rows);

// A batch that is joined of others' rows until it is full.
struct JoinedBatch {
  Batch batch;
  size_t bytes = 0;  // of the rows
  bool IsFull() const { return batch.rows >= kBatchRows || bytes >= kBatchBytes; }
};

}  // namespace koios::engine

template <>
struct std::hash<koios::engine::InstanceId> {
  size_t operator()(const koios::engine::InstanceId& id) const noexcept {
    return (id.serial + 1) * 0x9E3779B97F4A7C15ull ^ (static_cast<uint64_t>(id.home) << 40);
  }
};
