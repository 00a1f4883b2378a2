#include "engine/op/state/merged_rows.h"

#include <string_view>

#include "core/value_codec.h"

namespace koios::engine {
namespace {

constexpr size_t kPrefetched = 8;  // rows ahead
// An entry of each container, at the load they are kept at.
constexpr int64_t kVertexBytes = 80;

int64_t BytesOf(const std::string& key) {
  return kVertexBytes + 3 * static_cast<int64_t>(sizeof(std::string) + key.size());
}

// Any row as bytes: a tag per slot, and its value.
enum Tag : char { kNoSlot = 0, kAbsent = 1, kPresent = 2 };

std::string EncodeRow(const Batch& batch, size_t row) {
  std::string bytes;
  for (size_t slot = 0; slot < batch.slots.size(); ++slot) {
    const Column& column = batch.slots[slot];
    if (!batch.Has(slot)) {
      bytes.push_back(kNoSlot);
    } else if (column.IsAbsent(row)) {
      bytes.push_back(kAbsent);
    } else {
      bytes.push_back(kPresent);
      EncodeValue(column.Get(row), &bytes);
    }
  }
  return bytes;
}

// Appends the row; false, and nothing is appended, when the batch's rows have other slots.
StatusOr<bool> DecodeRow(std::string_view bytes, Batch* out) {
  std::vector<std::pair<Tag, Value>> cells;
  while (!bytes.empty()) {
    const Tag tag = static_cast<Tag>(bytes[0]);
    bytes.remove_prefix(1);
    Value value;
    if (tag == kPresent) {
      ASSIGN_OR_RETURN(value, DecodeValue(&bytes));
    }
    cells.emplace_back(tag, std::move(value));
  }
  if (out->slots.size() < cells.size()) out->slots.resize(cells.size());
  cells.resize(out->slots.size());
  for (size_t slot = 0; slot < cells.size(); ++slot) {
    if (out->rows > 0 && (cells[slot].first == kNoSlot) != out->slots[slot].empty()) return false;
  }
  for (size_t slot = 0; slot < cells.size(); ++slot) {
    if (cells[slot].first == kAbsent) out->slots[slot].AppendAbsent();
    if (cells[slot].first == kPresent) out->slots[slot].Append(cells[slot].second);
  }
  return true;
}

bool HoldsOnlyVertices(const Batch& batch) {
  if (!batch.Has(0) || batch.slots[0].kind() != Column::Kind::kVertex ||
      batch.slots[0].has_absent()) {
    return false;
  }
  for (size_t slot = 1; slot < batch.slots.size(); ++slot) {
    if (!batch.slots[slot].empty()) return false;
  }
  return true;
}

// Whether a row that is a vertex and nothing else fits behind the batch's rows.
bool TakesVertices(const Batch& batch) { return batch.rows == 0 || HoldsOnlyVertices(batch); }

}  // namespace

int64_t MergedRows::Add(const Batch& input, size_t begin, size_t end, uint32_t group,
                        size_t* num_fresh) {
  int64_t bytes = 0;
  if (HoldsOnlyVertices(input)) {
    const std::span<const VertexRef> vertices = input.slots[0].vertices();
    for (size_t row = begin; row < end; ++row) {
      const size_t soon = row + kPrefetched;
      if (soon < end) vertices_.Prefetch(vertices[soon].bits, group);
      if (!vertices_.Add(vertices[row].bits, group, input.BulkAt(row))) continue;
      ++*num_fresh;
      bytes += kVertexBytes;
    }
    return bytes;
  }
  for (size_t row = begin; row < end; ++row) {
    std::string key = EncodeRow(input, row);
    const int64_t key_bytes = BytesOf(key);
    if (!others_.Add(std::move(key), group, input.BulkAt(row))) continue;
    ++*num_fresh;
    bytes += key_bytes;
  }
  return bytes;
}

StatusOr<int64_t> MergedRows::Take(Batch* output, std::vector<uint32_t>* groups) {
  int64_t bytes = 0;
  output->bulk.resize(output->rows, 1);
  if (vertices_.size() > 0) {
    if (output->slots.empty()) output->slots.resize(1);
    if (!TakesVertices(*output)) return bytes;
    while (vertices_.size() > 0 && output->rows < kBatchRows) {
      output->slots[0].AppendVertex({vertices_.front().key});
      groups->push_back(vertices_.front().group);
      output->bulk.push_back(vertices_.Pop());
      bytes += kVertexBytes;
      ++output->rows;
    }
    return bytes;
  }
  size_t out_bytes = 0;
  while (others_.size() > 0 && output->rows < kBatchRows && out_bytes < kBatchBytes) {
    const BulkSums<std::string>::Row& row = others_.front();
    ASSIGN_OR_RETURN(const bool fits, DecodeRow(row.key, output));
    if (!fits) break;
    groups->push_back(row.group);
    bytes += BytesOf(row.key);
    output->bulk.push_back(others_.Pop());
    out_bytes += output->RowBytes(output->rows++);
  }
  return bytes;
}

}  // namespace koios::engine
