#include "engine/op/state/merged_rows.h"

#include <algorithm>
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

std::optional<bool> DenseSums::Add(VertexRef vertex, int64_t bulk) {
  if (vertex.partition() >= pages_.size()) pages_.resize(vertex.partition() + 1);
  auto& pages = pages_[vertex.partition()];
  const size_t at = vertex.local() / kVertices;
  if (at >= pages.size()) {
    bytes_ += static_cast<int64_t>((at + 1 - pages.size()) * sizeof(pages[0]));
    pages.resize(at + 1);
  }
  if (pages[at] == nullptr) {
    bytes_ += static_cast<int64_t>(sizeof(Page));
    pages[at] = std::make_unique<Page>();
  }
  int64_t& sum = (*pages[at])[vertex.local() % kVertices];
  const bool fresh = sum == 0;
  if (sum > INT64_MAX - bulk) return std::nullopt;
  sum += bulk;
  if (fresh) {
    // There was room for a list of all when it was chosen to be kept so (DenseChoice).
    order_.push_back(vertex);
    bytes_ += kListedBytes;
  }
  return fresh;
}

int64_t DenseSums::Pop() {
  const int64_t bulk = std::exchange(*Find(order_.front()), 0);
  order_.pop_front();
  bytes_ -= kListedBytes;
  return bulk;
}

DenseChoice::DenseChoice(const OperatorHost& host, size_t capacity) : host_(host) {
  for (const auto& [label, count] : host.view().schema().vertex_counts) vertices_ += count;
  // So many that a row takes a fourth of what it does otherwise; or as many as there can be.
  constexpr uint64_t kVerticesOfRow = 32;
  enough_ = std::min<uint64_t>(vertices_ / kVerticesOfRow, capacity / 4 * 3);
}

bool DenseChoice::IsWorth(size_t rows) const {
  constexpr int64_t kShareOfRoom = 8;
  return rows >= std::max(enough_, kBatchRows) &&
         DenseSums::BytesOf(vertices_) <= host_.StateRoom() / kShareOfRoom;
}

int64_t MergedRows::MakeDense(uint32_t group, size_t most) {
  if (!is_dense()) num_to_move_ = vertices_.size();
  dense_group_ = group;
  const int64_t before = dense_.bytes();
  int64_t freed = 0;
  for (; most > 0 && num_to_move_ > 0; --most, --num_to_move_) {
    const VertexRef vertex{vertices_.front().key};
    const int64_t bulk = vertices_.Pop();
    if (dense_.Add(vertex, bulk) || !vertices_.Add(vertex.bits, group, bulk, &moved_)) {
      freed += kVertexBytes;
    }
  }
  if (vertices_.size() == 0) vertices_ = {};
  return dense_.bytes() - before - freed;
}

int64_t MergedRows::MostBytes(const Batch& input, size_t begin, size_t end) {
  const auto rows = static_cast<int64_t>(end - begin);
  if (HoldsOnlyVertices(input)) return rows * kVertexBytes;
  int64_t bytes = rows * BytesOf(std::string());
  for (size_t row = begin; row < end; ++row) bytes += 3 * static_cast<int64_t>(input.RowBytes(row));
  return bytes;
}

int64_t MergedRows::AddVertices(const Batch& input, size_t begin, size_t end, uint32_t group,
                                size_t* num_fresh) {
  const std::span<const VertexRef> vertices = input.slots[0].vertices();
  const bool dense = dense_group_ == group;
  const int64_t before = dense_.bytes();
  int64_t bytes = 0;
  for (size_t row = begin; row < end; ++row) {
    if (dense) {
      const std::optional<bool> fresh = dense_.Add(vertices[row], input.BulkAt(row));
      *num_fresh += fresh.value_or(false) ? 1 : 0;
      if (fresh) continue;
    }
    const size_t soon = row + kPrefetched;
    if (soon < end) vertices_.Prefetch(vertices[soon].bits, group);
    if (!vertices_.Add(vertices[row].bits, group, input.BulkAt(row), &moved_)) continue;
    ++*num_fresh;
    bytes += kVertexBytes;
  }
  return bytes + dense_.bytes() - before;
}

int64_t MergedRows::Add(const Batch& input, size_t begin, size_t end, uint32_t group,
                        size_t* num_fresh) {
  if (HoldsOnlyVertices(input)) return AddVertices(input, begin, end, group, num_fresh);
  int64_t bytes = 0;
  for (size_t row = begin; row < end; ++row) {
    std::string key = EncodeRow(input, row);
    const int64_t key_bytes = BytesOf(key);
    if (!others_.Add(std::move(key), group, input.BulkAt(row), &moved_)) continue;
    ++*num_fresh;
    bytes += key_bytes;
  }
  return bytes;
}

StatusOr<int64_t> MergedRows::Take(Batch* output, std::vector<uint32_t>* groups) {
  int64_t bytes = 0;
  output->bulk.resize(output->rows, 1);
  if (vertices_.size() + dense_.size() > 0) {
    if (output->slots.empty()) output->slots.resize(1);
    if (!TakesVertices(*output)) return bytes;
    while (vertices_.size() > 0 && output->rows < kBatchRows) {
      output->slots[0].AppendVertex({vertices_.front().key});
      groups->push_back(vertices_.front().group);
      output->bulk.push_back(vertices_.Pop());
      bytes += kVertexBytes;
      ++output->rows;
    }
    num_to_move_ = std::min(num_to_move_, vertices_.size());
    const int64_t before = dense_.bytes();
    while (dense_.size() > 0 && output->rows < kBatchRows) {
      output->slots[0].AppendVertex(dense_.front());
      groups->push_back(*dense_group_);
      output->bulk.push_back(dense_.Pop());
      ++output->rows;
    }
    if (dense_.size() == 0) dense_.Clear();
    bytes += before - dense_.bytes();
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
