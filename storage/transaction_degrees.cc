// How many edge ends a vertex has, as a request sees it that changes the graph.
#include <algorithm>
#include <utility>

#include "storage/transaction.h"

namespace koios::storage {
namespace {

constexpr size_t kChunk = 1024;  // ends looked at at once

}  // namespace

Status Transaction::CountEnds(std::span<const VertexRef> vertices, Direction direction,
                              std::span<const LabelId> labels, DegreeCursor* cursor, size_t limit,
                              std::vector<int64_t>* out) const {
  if (own_ends_.empty() && dropped_edges_.empty()) {
    return base_->CountEnds(vertices, direction, labels, cursor, limit, out);
  }
  while (!cursor->ends.done && limit > 0) {
    Expansion ends;
    const size_t chunk = std::min<size_t>(limit, kChunk);
    RETURN_IF_ERROR(Expand(vertices, direction, labels, false, &cursor->ends, chunk, &ends));
    limit -= chunk;  // it may have looked at as many that are dropped
    // All vertices before the one whose end came are counted.
    for (const uint32_t row : ends.rows) {
      for (; cursor->row < row; ++cursor->row) out->push_back(std::exchange(cursor->counted, 0));
      ++cursor->counted;
    }
  }
  if (!cursor->ends.done) return OkStatus();
  for (; cursor->row < vertices.size(); ++cursor->row) {
    out->push_back(std::exchange(cursor->counted, 0));
  }
  cursor->done = true;
  return OkStatus();
}

}  // namespace koios::storage
