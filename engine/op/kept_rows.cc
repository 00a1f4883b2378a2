#include "engine/op/kept_rows.h"

#include <numeric>

namespace koios::engine {

int64_t KeptRows::Add(const Batch& source, size_t begin, size_t end) {
  if (chunks_.empty() || chunks_.back().rows >= kBatchRows || !chunks_.back().SameShape(source)) {
    chunks_.emplace_back();
  }
  Batch& chunk = chunks_.back();
  const size_t before = chunk.ByteSize();
  std::vector<uint32_t> rows(end - begin);
  std::iota(rows.begin(), rows.end(), static_cast<uint32_t>(begin));
  chunk.AppendRows(source, rows);
  size_ += rows.size();
  return static_cast<int64_t>(chunk.ByteSize()) - static_cast<int64_t>(before);
}

std::vector<KeptRows::Position> KeptRows::All() const {
  std::vector<Position> all;
  all.reserve(size_);
  for (uint32_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    for (uint32_t row = 0; row < chunks_[chunk].rows; ++row) all.push_back({chunk, row});
  }
  return all;
}

int64_t KeptRows::Retain(const std::vector<Position>& kept) {
  KeptRows rest;
  int64_t bytes = 0;
  for (const Position& at : kept) {
    bytes += rest.Add(chunks_[at.chunk], at.row, at.row + 1);
  }
  *this = std::move(rest);
  return bytes;
}

void KeptRows::Take(const std::vector<Position>& order, size_t* next, Batch* out) const {
  size_t bytes = 0;
  while (*next < order.size() && out->rows < kBatchRows && bytes < kBatchBytes) {
    const Batch& first = chunks_[order[*next].chunk];
    if (out->rows > 0 && !out->SameShape(first)) return;
    // Neighbours in one chunk are copied together.
    std::vector<uint32_t> rows;
    const uint32_t chunk = order[*next].chunk;
    while (*next < order.size() && order[*next].chunk == chunk &&
           out->rows + rows.size() < kBatchRows) {
      rows.push_back(order[(*next)++].row);
    }
    bytes += first.ByteSize() * rows.size() / first.rows;
    out->AppendRows(first, rows);
  }
}

}  // namespace koios::engine
