#include "engine/op/state/kept_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace koios::engine {
namespace {

int64_t PathsOf(const Batch& chunk) {
  size_t bytes = 0;
  for (const Column& column : chunk.slots) bytes += PathBytes(column);
  return static_cast<int64_t>(bytes);
}

}  // namespace

// The last chunk, or a new one when its rows are of another shape or it is full.
Batch* KeptRows::ChunkFor(const Batch& source) {
  if (chunks_.empty() || chunks_.back().rows >= kBatchRows ||
      last_bytes_ >= static_cast<int64_t>(kBatchBytes) || !chunks_.back().SameShape(source)) {
    PushBack({});
  }
  return &chunks_.back();
}

void KeptRows::PushBack(Batch chunk) {
  if (!chunks_.empty()) path_bytes_ += PathsOf(chunks_.back());
  MeasureLast();  // it may have been estimated
  full_bytes_ += last_bytes_;
  chunks_.push_back(std::move(chunk));
  MeasureLast();
}

void KeptRows::MeasureLast() {
  last_bytes_ = chunks_.empty() ? 0 : static_cast<int64_t>(chunks_.back().ByteSize());
}

bool KeptRows::HasRowAt(Position* at) const {
  if (at->chunk >= chunks_.size()) return false;
  if (at->row < chunks_[at->chunk].rows) return true;
  if (at->chunk + 1 == chunks_.size()) return false;
  *at = {at->chunk + 1, 0};
  return true;
}

KeptRows::Position KeptRows::End() const {
  if (chunks_.empty()) return {};
  return {static_cast<uint32_t>(chunks_.size() - 1), static_cast<uint32_t>(chunks_.back().rows)};
}

bool KeptRows::FreeSome(int64_t* freed) {
  constexpr int kChunks = 2;
  for (int i = 0; i < kChunks && !chunks_.empty(); ++i) {
    *freed += static_cast<int64_t>(chunks_.front().ByteSize());
    chunks_.pop_front();
  }
  return chunks_.empty();
}

int64_t KeptRows::HeldBytes() const {
  return ByteSize() + path_bytes_ + (chunks_.empty() ? 0 : PathsOf(chunks_.back()));
}

void KeptRows::Add(const Batch& source, size_t begin, size_t end) {
  std::vector<uint32_t> rows(end - begin);
  std::iota(rows.begin(), rows.end(), static_cast<uint32_t>(begin));
  ChunkFor(source)->AppendRows(source, rows);
  MeasureLast();
  size_ += rows.size();
}

void KeptRows::AddSome(const KeptRows& other, const std::vector<Position>& kept, size_t* next,
                       size_t count) {
  const size_t end = std::min(kept.size(), *next + count);
  for (; *next < end; ++*next) {
    const Batch& source = other.chunks_[kept[*next].chunk];
    ChunkFor(source)->AppendRows(source, {kept[*next].row});
    last_bytes_ += static_cast<int64_t>(source.RowBytes(kept[*next].row));  // about
    ++size_;
  }
  MeasureLast();
}

int64_t KeptRows::DropOldest(size_t rows) {
  int64_t freed = 0;
  while (chunks_.size() > 1 && size_ - chunks_.front().rows >= rows) {
    freed += static_cast<int64_t>(chunks_.front().ByteSize());
    path_bytes_ -= PathsOf(chunks_.front());
    size_ -= chunks_.front().rows;
    chunks_.pop_front();
  }
  full_bytes_ -= freed;
  return freed;
}

std::vector<KeptRows::Position> KeptRows::All() const {
  std::vector<Position> all;
  all.reserve(size_);
  for (uint32_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    for (uint32_t row = 0; row < chunks_[chunk].rows; ++row) all.push_back({chunk, row});
  }
  return all;
}

KeptRows KeptRows::TakeOldest(int64_t bytes) {
  KeptRows taken;
  while (!chunks_.empty() && taken.HeldBytes() < bytes) {
    taken.PushBack(TakeOldestChunk());
    taken.size_ += taken.chunks_.back().rows;
  }
  return taken;
}

Batch KeptRows::TakeOldestChunk() {
  Batch chunk = std::move(chunks_.front());
  chunks_.pop_front();
  size_ -= chunk.rows;
  if (chunks_.empty()) {
    full_bytes_ = last_bytes_ = path_bytes_ = 0;
  } else {
    full_bytes_ -= static_cast<int64_t>(chunk.ByteSize());
    path_bytes_ -= PathsOf(chunk);
  }
  return chunk;
}

void KeptRows::Take(const std::vector<Position>& order, size_t* next, Batch* out,
                    size_t most_bytes) const {
  size_t bytes = 0;
  while (*next < order.size() && out->rows < kBatchRows && bytes < most_bytes) {
    const Batch& first = chunks_[order[*next].chunk];
    if (out->rows > 0 && !out->SameShape(first)) return;
    // Neighbours in one chunk are copied together.
    std::vector<uint32_t> rows;
    const uint32_t chunk = order[*next].chunk;
    while (*next < order.size() && order[*next].chunk == chunk &&
           out->rows + rows.size() < kBatchRows && bytes < most_bytes) {
      bytes += first.RowBytes(order[*next].row);
      rows.push_back(order[(*next)++].row);
    }
    out->AppendRows(first, rows);
  }
}

}  // namespace koios::engine
