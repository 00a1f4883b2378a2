// KeptRows: rows of one instance and iteration that a barrier keeps, in the order of arrival.
#pragma once

#include <vector>

#include "engine/batch/batch.h"

namespace koios::engine {

class KeptRows {
 public:
  struct Position {
    uint32_t chunk = 0;
    uint32_t row = 0;
  };

  // Copies rows [begin, end). Returns the bytes that this took, roughly.
  int64_t Add(const Batch& source, size_t begin, size_t end);
  // Positions of all rows, in order of arrival.
  std::vector<Position> All() const;
  size_t size() const { return size_; }

  bool Has(Position at, uint32_t slot) const { return chunks_[at.chunk].Has(slot); }
  Value Get(Position at, uint32_t slot) const { return chunks_[at.chunk].slots[slot].Get(at.row); }
  bool IsAbsent(Position at, uint32_t slot) const {
    return chunks_[at.chunk].slots[slot].IsAbsent(at.row);
  }
  int64_t BulkAt(Position at) const { return chunks_[at.chunk].BulkAt(at.row); }

  // Keeps only the rows at `kept`, in that order. Returns the bytes that are now kept.
  int64_t Retain(const std::vector<Position>& kept);
  // Copies rows at positions [*next, ...) into an empty batch, while their shape is the same and a
  // batch has room; advances *next.
  void Take(const std::vector<Position>& order, size_t* next, Batch* out) const;

 private:
  std::vector<Batch> chunks_;  // each of one shape
  size_t size_ = 0;
};

}  // namespace koios::engine
