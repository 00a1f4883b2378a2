// KeptRows: rows of one instance and iteration that a barrier keeps, in the order of arrival.
#pragma once

#include <vector>

#include "engine/batch/batch.h"
#include "engine/batch/fifo.h"

namespace koios::engine {

class KeptRows {
 public:
  struct Position {
    uint32_t chunk = 0;
    uint32_t row = 0;
  };

  // Copies rows [begin, end).
  void Add(const Batch& source, size_t begin, size_t end);
  // Positions of all rows, in order of arrival.
  std::vector<Position> All() const;
  size_t size() const { return size_; }
  // Whether there is a row at `*at`, or, behind the last one of a chunk, at the next one's begin:
  // then that is where it is.
  bool HasRowAt(Position* at) const;
  // Where the next row will be, or where HasRowAt finds it.
  Position End() const;

  Value Get(Position at, uint32_t slot) const { return chunks_[at.chunk].slots[slot].Get(at.row); }
  // Holds the row, at `at.row`.
  const Batch& ChunkAt(Position at) const { return chunks_[at.chunk]; }
  int64_t BulkAt(Position at) const { return chunks_[at.chunk].BulkAt(at.row); }

  // Copies `other`'s rows at positions [*next, ...), at most `count`; advances *next.
  void AddSome(const KeptRows& other, const std::vector<Position>& kept, size_t* next,
               size_t count);
  int64_t ByteSize() const { return full_bytes_ + last_bytes_; }
  // What keeping them holds: with paths, which are charged by themselves, about.
  int64_t HeldBytes() const;
  // Forgets whole chunks of the oldest rows, as long as at least `rows` rows stay. Returns the
  // bytes that this frees. Positions change.
  int64_t DropOldest(size_t rows);
  // The oldest rows, whole chunks of them: that hold about `bytes`, or all. Positions change.
  KeptRows TakeOldest(int64_t bytes);
  // The oldest chunk. REQUIRES: there is one. Positions change.
  Batch TakeOldestChunk();
  // Frees some chunks; nothing but this is called any more. Adds the bytes that this frees. True:
  // none is left.
  bool FreeSome(int64_t* freed);
  // Appends rows at positions [*next, ...), while their shape is that of `out`'s rows and a batch
  // has room for so many bytes more; advances *next.
  void Take(const std::vector<Position>& order, size_t* next, Batch* out,
            size_t most_bytes = kBatchBytes) const;

 private:
  Batch* ChunkFor(const Batch& source);
  void PushBack(Batch chunk);
  void MeasureLast();

  Fifo<Batch> chunks_;      // each of one shape
  int64_t full_bytes_ = 0;  // of all chunks but the last
  int64_t last_bytes_ = 0;  // of that
  int64_t path_bytes_ = 0;  // of the paths in these
  size_t size_ = 0;
};

}  // namespace koios::engine
