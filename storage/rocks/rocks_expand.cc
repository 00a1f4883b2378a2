// Expansion and degrees of RocksView. Both go segment by segment: a vertex's ends of one direction
// and one label (or all labels), read in the order of their keys.
#include <algorithm>
#include <utility>

#include "storage/rocks/edge_end_reader.h"
#include "storage/rocks/rocks_view.h"

namespace koios::storage {
namespace {

constexpr size_t kPairSeekCost = 4;  // of a segment where ends of two vertices are looked for

struct Segment {
  Direction direction = Direction::kOut;
  LabelId label = kNoName;
};

std::vector<Segment> MakeSegments(Direction direction, std::span<const LabelId> labels) {
  std::vector<LabelId> sorted(labels.begin(), labels.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  if (labels.empty()) sorted.push_back(kNoName);
  std::vector<Segment> segments;
  for (const Direction one : {Direction::kOut, Direction::kIn}) {
    if (direction != Direction::kBoth && direction != one) continue;
    for (const LabelId label : sorted) {
      // A name that the caller looked for and did not find selects nothing.
      if (label == kNoName && !labels.empty()) continue;
      segments.push_back({one, label});
    }
  }
  return segments;
}

// Where `resume` lies among a vertex's segments.
StatusOr<size_t> SegmentOf(const std::vector<Segment>& segments, const EdgeEnd& resume) {
  for (size_t i = 0; i < segments.size(); ++i) {
    const bool same_label = segments[i].label == kNoName || segments[i].label == resume.label;
    if (segments[i].direction == resume.direction && same_label) return i;
  }
  return Internal("An expansion was resumed with other directions or labels.");
}

// Calls use(end) for the ends of a segment after the key `after`, at most `limit`; returns whether
// that was all of them.
template <typename Use>
StatusOr<bool> ReadSegment(EdgeEndReader* reader, const EndsKey& key, std::string_view after,
                           size_t limit, Use use) {
  EdgeEnd end;
  for (reader->Seek(key, after); reader->Valid(); reader->Next()) {
    if (limit-- == 0) return false;
    RETURN_IF_ERROR(reader->Read(&end));
    use(end);
  }
  RETURN_IF_ERROR(reader->status());
  return true;
}

}  // namespace

Status RocksView::Expand(std::span<const VertexRef> vertices, Direction direction,
                         std::span<const LabelId> labels, bool want_edges, ExpandCursor* cursor,
                         size_t limit, Expansion* out) const {
  const std::vector<Segment> segments = MakeSegments(direction, labels);
  const size_t full = FullSize(out->rows.size(), limit);
  size_t sought = 0;
  EdgeEndReader reader(snapshot_);
  EdgeEnd last;
  for (; cursor->row < vertices.size(); ++cursor->row, cursor->resume_key.clear()) {
    if (sought > 0 && sought * kSeekCost >= limit) return OkStatus();
    sought += segments.size();
    size_t segment = 0;
    if (!cursor->resume_key.empty()) {
      RETURN_IF_ERROR(DecodeEdgeEndKey(cursor->resume_key, &last));
      ASSIGN_OR_RETURN(segment, SegmentOf(segments, last));
    }
    bool given = false;
    const auto give = [&](const EdgeEnd& end) {
      out->rows.push_back(static_cast<uint32_t>(cursor->row));
      out->neighbours.push_back(end.neighbour);
      if (want_edges) out->edges.push_back(end.edge());
      last = end;
      given = true;
    };
    std::string after = cursor->resume_key;
    for (; segment < segments.size(); ++segment, after.clear()) {
      const EndsKey key{vertices[cursor->row], segments[segment].direction, segments[segment].label,
                        std::nullopt};
      ASSIGN_OR_RETURN(const bool finished,
                       ReadSegment(&reader, key, after, full - out->rows.size(), give));
      if (finished) continue;
      if (given) cursor->resume_key = EdgeEndKey(last);
      return OkStatus();
    }
  }
  cursor->done = true;
  return OkStatus();
}

Status RocksView::CountEnds(std::span<const VertexRef> vertices, Direction direction,
                            std::span<const LabelId> labels, DegreeCursor* cursor, size_t limit,
                            std::vector<int64_t>* out) const {
  const std::vector<Segment> segments = MakeSegments(direction, labels);
  EdgeEndReader reader(snapshot_);
  for (; cursor->row < vertices.size(); ++cursor->row) {
    if (limit == 0) return OkStatus();
    size_t segment = 0;
    EdgeEnd end;  // the last one counted
    if (!cursor->resume_key.empty()) {
      RETURN_IF_ERROR(DecodeEdgeEndKey(cursor->resume_key, &end));
      ASSIGN_OR_RETURN(segment, SegmentOf(segments, end));
    }
    for (; segment < segments.size(); ++segment, cursor->resume_key.clear()) {
      size_t read = 0;
      const auto count = [&](const EdgeEnd& next) {
        ++read;
        end = next;
      };
      const EndsKey key{vertices[cursor->row], segments[segment].direction, segments[segment].label,
                        std::nullopt};
      ASSIGN_OR_RETURN(const bool finished, ReadSegment(&reader, key, cursor->resume_key,
                                                        std::max<size_t>(limit, 1), count));
      cursor->counted += static_cast<int64_t>(read);
      limit -= std::min(limit, read);
      if (finished) continue;
      cursor->resume_key = EdgeEndKey(end);
      return OkStatus();
    }
    out->push_back(std::exchange(cursor->counted, 0));
    limit -= std::min(limit, segments.size() * kSeekCost);
  }
  cursor->done = true;
  return OkStatus();
}

// The ends of a label to one neighbour stand together.
Status RocksView::CountBetween(const VertexPairs& pairs, Direction direction,
                               std::span<const LabelId> labels, int64_t enough,
                               BetweenCursor* cursor, size_t limit,
                               std::vector<int64_t>* out) const {
  std::vector<LabelId> all(labels.begin(), labels.end());
  if (labels.empty()) {
    for (const auto& [label, count] : schema_->edge_counts) all.push_back(label);
    if (all.empty()) all.push_back(kNoName);  // there are no edges
  }
  const std::vector<Segment> segments = MakeSegments(direction, all);
  EdgeEndReader reader(snapshot_);
  for (; cursor->row < pairs.vertices.size(); ++cursor->row) {
    if (limit == 0) return OkStatus();
    size_t segment = 0;
    EdgeEnd end;  // the last one counted
    if (!cursor->resume_key.empty()) {
      RETURN_IF_ERROR(DecodeEdgeEndKey(cursor->resume_key, &end));
      ASSIGN_OR_RETURN(segment, SegmentOf(segments, end));
    }
    for (; segment < segments.size() && cursor->counted < enough;
         ++segment, cursor->resume_key.clear()) {
      const auto count = [&](const EdgeEnd& next) {
        ++cursor->counted;
        end = next;
      };
      const EndsKey key{pairs.vertices[cursor->row], segments[segment].direction,
                        segments[segment].label, pairs.neighbours[cursor->row]};
      const auto missing = static_cast<uint64_t>(enough - cursor->counted);
      const size_t most = std::min<uint64_t>(std::max<size_t>(limit, 1), missing);
      const int64_t before = cursor->counted;
      ASSIGN_OR_RETURN(const bool finished,
                       ReadSegment(&reader, key, cursor->resume_key, most, count));
      limit -= std::min(limit, static_cast<size_t>(cursor->counted - before));
      if (finished || cursor->counted == enough) continue;
      cursor->resume_key = EdgeEndKey(end);
      return OkStatus();
    }
    cursor->resume_key.clear();
    out->push_back(std::exchange(cursor->counted, 0));
    limit -= std::min(limit, segments.size() * kPairSeekCost);
  }
  cursor->done = true;
  return OkStatus();
}

}  // namespace koios::storage
