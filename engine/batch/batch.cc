#include "engine/batch/batch.h"

#include <algorithm>
#include <utility>

#include "core/path/path.h"

namespace koios::engine {
namespace {

size_t EntryBytes(const Column& column, size_t row) {
  switch (column.kind()) {
    case Column::Kind::kValue:
      return column.ValueAt(row).ByteSize();
    case Column::Kind::kString:
      return column.StringAt(row).size() + sizeof(uint32_t);
    case Column::Kind::kEdge:
      return sizeof(EdgeRef);
    default:
      return sizeof(int64_t);
  }
}

}  // namespace

size_t Batch::ByteSize() const {
  size_t bytes = sizeof(Batch) + bulk.capacity() * sizeof(int64_t) + runs.capacity() * sizeof(Run);
  for (const Column& column : slots) bytes += column.ByteSize();
  return bytes;
}

size_t Batch::RowBytes(size_t row) const {
  size_t bytes = 0;
  for (const Column& column : slots) {
    if (row < column.size()) bytes += EntryBytes(column, row);
  }
  return bytes;
}

bool Batch::SameShape(const Batch& other) const {
  const size_t most = std::max(slots.size(), other.slots.size());
  for (size_t slot = 0; slot < most; ++slot) {
    const bool mine = slot < slots.size() && !slots[slot].empty();
    const bool theirs = slot < other.slots.size() && !other.slots[slot].empty();
    if (mine != theirs) return false;
  }
  return true;
}

void Batch::AppendRows(const Batch& source, const std::vector<uint32_t>& picked) {
  if (slots.size() < source.slots.size()) slots.resize(source.slots.size());
  for (size_t slot = 0; slot < source.slots.size(); ++slot) {
    if (!source.slots[slot].empty()) slots[slot].AppendGather(source.slots[slot], picked);
  }
  if (!source.bulk.empty() || !bulk.empty()) {
    bulk.resize(rows, 1);
    bulk.reserve(rows + picked.size());
    for (uint32_t row : picked) bulk.push_back(source.BulkAt(row));
  }
  rows += picked.size();
}

Batch Batch::Slice(size_t begin, size_t end) const {
  Batch slice;
  slice.rows = end - begin;
  slice.slots.resize(slots.size());
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    if (Has(slot)) slice.slots[slot] = slots[slot].Slice(begin, end - begin);
  }
  if (!bulk.empty()) {
    slice.bulk.assign(bulk.begin() + static_cast<std::ptrdiff_t>(begin),
                      bulk.begin() + static_cast<std::ptrdiff_t>(end));
  }
  size_t row = 0;
  for (const Run& run : runs) {
    const size_t first = std::max(begin, row), last = std::min<size_t>(end, row + run.count);
    row += run.count;
    if (first >= last) continue;
    slice.runs.push_back(run);
    slice.runs.back().count = static_cast<uint32_t>(last - first);
  }
  return slice;
}

void Batch::AppendCurrent(const Value& value) {
  if (slots.empty()) slots.resize(1);
  slots[0].Append(value);
  if (!bulk.empty()) bulk.push_back(1);
  ++rows;
}

void Batch::AppendRun(const Run& run) {
  if (!runs.empty()) {
    Run& last = runs.back();
    if (last.k == run.k && last.k > 0 && last.instance == run.instance && last.loops == run.loops) {
      last.count += run.count;
      --last.k;
      return;
    }
  }
  runs.push_back(run);
}

namespace {

// Bytes of the objects that lead to `path` and not to `other`: both are walked back until they
// meet. Paths that have not met after some objects count as if they shared none, so that a long one
// is not walked to its start.
size_t BytesApart(const PathNode* path, const PathNode* other) {
  constexpr int kMostSteps = 32;
  const size_t whole = std::min<size_t>(path->flat_bytes(), kBatchBytes);
  size_t bytes = 0;
  for (int step = 0; path != other && path != nullptr; ++step) {
    if (step == kMostSteps) return whole;
    const size_t behind = other == nullptr ? 0 : other->length();
    if (behind >= path->length()) other = other->parent();
    if (behind > path->length()) continue;
    bytes += static_cast<size_t>(PathMaker::BytesFor(path->object()));
    path = path->parent();
  }
  return std::min(bytes, whole);
}

}  // namespace

size_t PathBytes(const Column& column) {
  constexpr size_t kPairs = 16;
  if (column.kind() != Column::Kind::kValue || column.size() < 2) return 0;
  const size_t stride = (column.size() + kPairs - 1) / kPairs;
  size_t bytes = 0, pairs = 0;
  for (size_t row = 1; row < column.size(); row += stride, ++pairs) {
    if (column.ValueAt(row).kind() != ValueKind::kPath ||
        column.ValueAt(row - 1).kind() != ValueKind::kPath)
      continue;
    const PathNode& path = column.ValueAt(row).AsPath();
    if (path.is_charged()) bytes += BytesApart(&path, &column.ValueAt(row - 1).AsPath());
  }
  return bytes * column.size() / pairs;
}

int64_t PathBytes(const Batch& batch, std::span<const uint32_t> slots, size_t rows) {
  size_t bytes = 0;
  for (const uint32_t slot : slots) {
    if (rows > 0 && batch.Has(slot)) bytes += PathBytes(batch.slots[slot]);
  }
  return bytes == 0 ? 0 : static_cast<int64_t>(bytes * rows / batch.rows);
}

size_t RowLimit(size_t bytes, size_t rows) {
  if (bytes <= rows * (kBatchBytes / kBatchRows)) return kBatchRows;
  return std::max<size_t>(1, kBatchBytes * rows / bytes);
}

}  // namespace koios::engine
