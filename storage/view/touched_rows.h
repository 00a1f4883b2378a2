// TouchedVertices, TouchedEdges: the rows of a column that a delta says something about at a
// version, and the column without them, so that snapshots are read for all others as if there were
// no delta. Where none is touched nothing is copied. Belong to one call.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "storage/delta/delta.h"

namespace koios::storage {

// What a view sees of a delta; null: there is none.
struct DeltaAt {
  const Delta* delta = nullptr;
  uint64_t version = 0;
};

// One that the base does not tell.
struct TouchedRow {
  uint32_t row = 0;
  bool gone = false;
  std::string_view record;  // of an edge: empty, when it has neither a given id nor properties
};

class TouchedVertices {
 public:
  TouchedVertices(const DeltaAt& at, std::span<const VertexRef> vertices);

  // The column, in which the touched ones are nobody.
  std::span<const VertexRef> clean() const { return rows_.empty() ? vertices_ : masked_; }
  std::span<const TouchedRow> rows() const { return rows_; }  // ascending

 private:
  const std::span<const VertexRef> vertices_;
  std::vector<VertexRef> masked_;
  std::vector<TouchedRow> rows_;
};

class TouchedEdges {
 public:
  TouchedEdges(const DeltaAt& at, std::span<const EdgeRef> edges);

  std::span<const EdgeRef> clean() const { return rows_.empty() ? edges_ : masked_; }
  std::span<const TouchedRow> rows() const { return rows_; }

 private:
  const std::span<const EdgeRef> edges_;
  std::vector<EdgeRef> masked_;
  std::vector<TouchedRow> rows_;
};

// In no partition.
inline constexpr VertexRef kNobody{~uint64_t{0}};

}  // namespace koios::storage
