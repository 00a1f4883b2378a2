// How many edge ends a vertex has, as a request sees it that changes the graph.
#include <algorithm>
#include <tuple>
#include <utility>

#include "storage/transaction/transaction.h"

namespace koios::storage {
namespace {

constexpr size_t kEndsAtOnce = 1024;  // ends looked at at once
constexpr size_t kFewPairs = 8;

}  // namespace

Status Transaction::CountEnds(std::span<const VertexRef> vertices, Direction direction,
                              std::span<const LabelId> labels, DegreeCursor* cursor, size_t limit,
                              std::vector<int64_t>* out) const {
  if (own_ends_.empty() && dropped_edges_.empty()) {
    return base_->CountEnds(vertices, direction, labels, cursor, limit, out);
  }
  while (!cursor->ends.done && limit > 0) {
    Expansion ends;
    const size_t chunk = std::min<size_t>(limit, kEndsAtOnce);
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

// Stored edges between a pair that are not dropped: nobody knows how many of those that are were
// among them, so that they are looked at one by one. False: the steps are used up before the end.
StatusOr<bool> Transaction::CountLeft(VertexRef vertex, VertexRef neighbour, Direction direction,
                                      std::span<const LabelId> labels, BetweenCursor* cursor,
                                      size_t* limit) const {
  while (!cursor->ends.done) {
    if (*limit == 0) return false;
    Expansion ends;
    const size_t chunk = std::min(*limit, kEndsAtOnce);
    RETURN_IF_ERROR(
        ExpandStored({&vertex, 1}, direction, labels, false, &cursor->ends, chunk, &ends));
    // Those that are dropped are looked at, too.
    const size_t most = cursor->ends.done ? ends.rows.size() + dropped_edges_.size() : chunk;
    *limit -= std::min(chunk, most);
    cursor->counted += std::count(ends.neighbours.begin(), ends.neighbours.end(), neighbour);
  }
  return true;
}

int64_t Transaction::CountOwn(VertexRef vertex, VertexRef neighbour, Direction direction,
                              std::span<const LabelId> labels, int64_t enough) const {
  const auto* const own = EndsOf(vertex);
  if (own == nullptr) return 0;
  const auto other = [](const std::pair<Direction, EdgeRef>& end) {
    return end.first == Direction::kOut ? end.second.in : end.second.out;
  };
  int64_t count = 0;
  // Those of a direction and a label stand together, by neighbour.
  for (auto at = own->begin(); at != own->end() && count < enough;) {
    const auto part = std::pair(at->first, at->second.label);
    const auto first = std::partition_point(at, own->end(), [&](const auto& end) {
      return std::tuple(end.first, end.second.label, other(end)) <
             std::tuple(part.first, part.second, neighbour);
    });
    const bool wanted =
        (direction == Direction::kBoth || direction == part.first) &&
        (labels.empty() || std::find(labels.begin(), labels.end(), part.second) != labels.end());
    for (at = first; wanted && at != own->end() && count < enough &&
                     std::pair(at->first, at->second.label) == part && other(*at) == neighbour;
         ++at) {
      if (!IsDropped(at->second)) ++count;
    }
    at = std::partition_point(at, own->end(), [&](const auto& end) {
      return std::pair(end.first, end.second.label) <= part;
    });
  }
  return count;
}

Status Transaction::CountBetween(const VertexPairs& pairs, Direction direction,
                                 std::span<const LabelId> labels, int64_t enough,
                                 BetweenCursor* cursor, size_t limit,
                                 std::vector<int64_t>* out) const {
  if (own_ends_.empty() && dropped_edges_.empty()) {
    return base_->CountBetween(pairs, direction, labels, enough, cursor, limit, out);
  }
  const auto give = [&](int64_t stored) {
    const VertexRef vertex = pairs.vertices[cursor->row];
    const VertexRef neighbour = pairs.neighbours[cursor->row];
    stored = std::min(stored, enough);
    out->push_back(stored + CountOwn(vertex, neighbour, direction, labels, enough - stored));
    cursor->counted = 0;
    cursor->ends = {};
    ++cursor->row;
  };
  std::vector<int64_t> stored;
  size_t asked = kFewPairs;
  while (cursor->row < pairs.vertices.size() && limit > 0) {
    if (cursor->looks_at_ends) {
      ASSIGN_OR_RETURN(const bool finished,
                       CountLeft(pairs.vertices[cursor->row], pairs.neighbours[cursor->row],
                                 direction, labels, cursor, &limit));
      if (!finished) return OkStatus();
      cursor->looks_at_ends = false;
      give(cursor->counted);
      continue;
    }
    // What is known of the pairs behind one whose edges must be looked at is asked for again.
    if (dropped_edges_.empty()) asked = kEndsAtOnce;
    const size_t count = std::min({limit, asked, pairs.vertices.size() - cursor->row});
    asked = std::min(2 * asked, kEndsAtOnce);
    const VertexPairs some{pairs.vertices.subspan(cursor->row, count),
                           pairs.neighbours.subspan(cursor->row, count)};
    BetweenCursor of_base;
    of_base.counted = std::exchange(cursor->counted, 0);
    of_base.resume_key = std::move(cursor->resume_key);
    stored.clear();
    RETURN_IF_ERROR(base_->CountBetween(some, direction, labels, enough, &of_base, count, &stored));
    cursor->resume_key = std::move(of_base.resume_key);
    for (const int64_t found : stored) {
      if (found > 0 && !dropped_edges_.empty()) {
        cursor->looks_at_ends = true;
        cursor->resume_key.clear();
        asked = kFewPairs;
        break;
      }
      give(found);
    }
    if (!cursor->looks_at_ends) cursor->counted = of_base.counted;
    limit -= std::min(limit, count);
  }
  cursor->done = cursor->row == pairs.vertices.size();
  return OkStatus();
}

}  // namespace koios::storage
