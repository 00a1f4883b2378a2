// CallSize: how much an operator asks of the graph in one call, so that a call is over when a slice
// is: less where the last one took long, more where it did not. Reads of records take many times
// what those of a snapshot take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

  // What `read`, a call that asked for that much or less, returns. `more`, asked behind it: whether
  // there is more than it read. Of one that came to an end nobody knows what a larger one takes.
  template <typename Read, typename More>
  auto Measure(const Clock& clock, const Read& read, const More& more) {
    const int64_t begin = clock.NowNanos();
    auto result = read();
    const int64_t took = clock.NowNanos() - begin;
    if (took > kLongNanos) {
      size_ = std::max(least_, size_ / 2);
    } else if (took < kLongNanos * 2 / 5 && more()) {
      size_ = std::min(most_, size_ * 2);
    }
    return result;
  }

 private:
  size_t least_, most_;
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

inline CallSize ExpandedInACall() { return {32, kBatchRows, kBatchRows}; }

// Ends that are counted in one step, at most: a snapshot knows how many most vertices have, of
// records each is read.
inline constexpr size_t kCountedEnds = size_t{1} << 18;
inline CallSize CountedInACall() { return {64, 256, kCountedEnds}; }

// Numbers of edge ends (GraphView::CountEnds): a call's share of them, or all that are left.
inline Status CountOn(const storage::GraphView& view, const Clock& clock,
                      std::span<const VertexRef> vertices, Direction direction,
                      std::span<const LabelId> labels, CallSize* size,
                      storage::DegreeCursor* cursor, std::vector<int64_t>* out) {
  const CallEnd end(clock);
  do {
    RETURN_IF_ERROR(size->Measure(
        clock,
        [&] { return view.CountEnds(vertices, direction, labels, cursor, size->size(), out); },
        [&] { return !cursor->done; }));
  } while (!cursor->done && !end.has_come());
  return OkStatus();
}

// How many ends `num` vertices, at(0) and so on, have together, about. So many of them are looked
// at, or a call's share of those; the others are taken to have as many. 0 only when there are none.
inline constexpr size_t kSampledVertices = 4096;
template <typename At>
StatusOr<int64_t> EstimateEnds(const storage::GraphView& view, const Clock& clock, size_t num,
                               const At& at, Direction direction, std::span<const LabelId> labels) {
  // From everywhere: however few are looked at, neighbours in order are no sample.
  const size_t num_asked = std::min(num, kSampledVertices);
  const size_t stride = num_asked / 64 + 1;
  std::vector<VertexRef> asked;
  asked.reserve(num_asked);
  for (size_t begin = 0; begin < stride; ++begin) {
    for (size_t i = begin; i < num_asked; i += stride) asked.push_back(at(i * num / num_asked));
  }
  CallSize size = CountedInACall();
  storage::DegreeCursor cursor;
  std::vector<int64_t> degrees;
  RETURN_IF_ERROR(CountOn(view, clock, asked, direction, labels, &size, &cursor, &degrees));
  int64_t counted = cursor.counted;
  for (const int64_t degree : degrees) counted += degree;
  if (cursor.done && num_asked == num) return counted;
  const size_t num_counted = degrees.size() + (cursor.counted > 0 ? 1 : 0);
  const double share =
      static_cast<double>(num) / static_cast<double>(std::max<size_t>(num_counted, 1));
  return std::max<int64_t>(static_cast<int64_t>(static_cast<double>(counted) * share), 1);
}

}  // namespace koios::engine
