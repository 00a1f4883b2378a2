// CallSize: how much an operator asks of the graph in one call, so that a call is over when a slice
// is: less where the last one took long, more where it did not. Reads of records take many times
// what those of a snapshot take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/clock.h"
#include "core/status.h"
#include "engine/batch/batch.h"
#include "storage/graph_view.h"

namespace koios::engine {

class CallSize {
 public:
  static constexpr int64_t kLongNanos = 350'000;  // of two fifths of it and more none grows

  // REQUIRES: 0 < least <= first <= most.
  CallSize(size_t least, size_t first, size_t most) : least_(least), most_(most), size_(first) {}

  size_t size() const { return size_; }

  // What `read`, a call that asked for that much or less, returns.
  template <typename Read>
  auto Measure(const Clock& clock, const Read& read) {
    const int64_t begin = clock.NowNanos();
    auto result = read();
    const int64_t took = clock.NowNanos() - begin;
    if (took > kLongNanos) {
      size_ = std::max(least_, size_ / 2);
    } else if (took < kLongNanos * 2 / 5) {
      size_ = std::min(most_, size_ * 2);
    }
    return result;
  }

 private:
  const size_t least_, most_;
  size_t size_;
};

// Whether what is done in one call, a loop of small ones, has taken long.
class CallEnd {
 public:
  explicit CallEnd(const Clock& clock)
      : clock_(clock), end_(clock.NowNanos() + CallSize::kLongNanos / 2) {}
  bool has_come() const { return clock_.NowNanos() >= end_; }

 private:
  const Clock& clock_;
  const int64_t end_;
};

inline CallSize ExpandedInACall() { return {32, 256, kBatchRows}; }

// Ends that are counted in one step, at most: a snapshot knows how many most vertices have, of
// records each is read.
inline constexpr size_t kCountedEnds = size_t{1} << 18;
inline CallSize CountedInACall() { return {64, 64, kCountedEnds}; }

// Numbers of edge ends (GraphView::CountEnds): a call's share of them, or all that are left.
inline Status CountOn(const storage::GraphView& view, const Clock& clock,
                      std::span<const VertexRef> vertices, Direction direction,
                      std::span<const LabelId> labels, CallSize* size,
                      storage::DegreeCursor* cursor, std::vector<int64_t>* out) {
  const CallEnd end(clock);
  do {
    RETURN_IF_ERROR(size->Measure(clock, [&] {
      return view.CountEnds(vertices, direction, labels, cursor, size->size(), out);
    }));
  } while (!cursor->done && !end.has_come());
  return OkStatus();
}

// How many ends they have together, about: those of a call's share of them are counted, the others
// are taken to have as many. Of few whose ends are very many, fewer than there are.
inline StatusOr<int64_t> EstimateEnds(const storage::GraphView& view, const Clock& clock,
                                      std::span<const VertexRef> vertices, Direction direction,
                                      std::span<const LabelId> labels) {
  CallSize size = CountedInACall();
  storage::DegreeCursor cursor;
  std::vector<int64_t> degrees;
  RETURN_IF_ERROR(CountOn(view, clock, vertices, direction, labels, &size, &cursor, &degrees));
  int64_t counted = cursor.counted;
  for (const int64_t degree : degrees) counted += degree;
  if (cursor.done) return counted;
  const size_t looked_at = degrees.size() + (cursor.counted > 0 ? 1 : 0);
  if (looked_at == 0) return static_cast<int64_t>(vertices.size());
  const double each = static_cast<double>(counted) / static_cast<double>(looked_at);
  return static_cast<int64_t>(each * static_cast<double>(vertices.size()));
}

}  // namespace koios::engine
