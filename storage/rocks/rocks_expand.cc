// Expansion and degrees of RocksView. Both go segment by segment: a vertex's ends of one direction
// and one label (or all labels). A segment is served from the cache of decoded adjacency; one that
// is read to its end from its start is put there on the way, and so is one that somebody comes back
// to, so that a small limit on a vertex with many edges reads no more than it gives.
#include <algorithm>
#include <utility>

#include "storage/rocks/edge_end_reader.h"
#include "storage/rocks/rocks_view.h"

namespace koios::storage {
namespace {

// Vertices that the cache is asked for at once. An expansion stops at its limit and does not need
// those behind it.
constexpr size_t kExpandLookahead = 32;
constexpr size_t kDegreesLookahead = 256;

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

// One call of Expand or Degrees: reads the segments of a column of vertices, asking the cache for
// `lookahead` vertices at a time.
class SegmentReader {
 public:
  SegmentReader(const Snapshot& snapshot, uint64_t version, AdjacencyCache* cache,
                std::span<const VertexRef> vertices, const std::vector<Segment>& segments,
                size_t lookahead)
      : reader_(snapshot),
        version_(version),
        cache_(cache),
        vertices_(vertices),
        segments_(segments),
        lookahead_(lookahead),
        windows_(segments.size()) {}

  AdjacencyKey KeyOf(size_t row, size_t segment) const {
    return {vertices_[row], segments_[segment].direction, segments_[segment].label};
  }

  // Null: read the store.
  std::shared_ptr<const Adjacency> Cached(size_t row, size_t segment) {
    if (cache_ == nullptr) return nullptr;
    Window& window = windows_[segment];
    if (row < window.begin || row >= window.begin + window.found.size()) {
      window.begin = row;
      cache_->FindAll(vertices_.subspan(row, std::min(lookahead_, vertices_.size() - row)),
                      segments_[segment].direction, segments_[segment].label, version_,
                      &window.found);
    }
    std::shared_ptr<const Adjacency> found = std::move(window.found[row - window.begin]);
    known_too_large_ = found != nullptr && found->too_large;
    return known_too_large_ ? nullptr : found;
  }

  // Reads the whole segment into the cache. Null: it is too large.
  StatusOr<std::shared_ptr<const Adjacency>> Load(const AdjacencyKey& key) {
    if (cache_ == nullptr || known_too_large_) return nullptr;
    auto adjacency = std::make_shared<Adjacency>();
    EdgeEnd end;
    for (reader_.Seek(key, {}); reader_.Valid(); reader_.Next()) {
      RETURN_IF_ERROR(reader_.Read(&end));
      if (adjacency->neighbours.size() == cache_->max_ends()) {
        auto marker = std::make_shared<Adjacency>();
        marker->too_large = true;
        cache_->Insert(key, version_, marker);
        return nullptr;
      }
      adjacency->Append(end.label, end.neighbour, end.edge_id);
    }
    RETURN_IF_ERROR(reader_.status());
    cache_->Insert(key, version_, adjacency);
    return adjacency;
  }

  // Calls use(end) for the ends after the key `after`, at most `limit`; returns whether that was
  // all of them. Puts the segment into the cache when it was read whole.
  template <typename Use>
  StatusOr<bool> Stream(const AdjacencyKey& key, std::string_view after, size_t limit, Use use) {
    std::shared_ptr<Adjacency> whole;
    if (cache_ != nullptr && after.empty() && !known_too_large_) {
      whole = std::make_shared<Adjacency>();
    }
    EdgeEnd end;
    for (reader_.Seek(key, after); reader_.Valid(); reader_.Next()) {
      if (limit-- == 0) return false;
      RETURN_IF_ERROR(reader_.Read(&end));
      use(end);
      if (whole == nullptr) continue;
      if (whole->neighbours.size() == cache_->max_ends()) {
        whole = nullptr;
        continue;
      }
      whole->Append(end.label, end.neighbour, end.edge_id);
    }
    RETURN_IF_ERROR(reader_.status());
    if (whole != nullptr) cache_->Insert(key, version_, std::move(whole));
    return true;
  }

 private:
  // What the cache had for the vertices from row `begin` on; each is asked for once.
  struct Window {
    size_t begin = 0;
    std::vector<std::shared_ptr<const Adjacency>> found;
  };

  EdgeEndReader reader_;
  uint64_t version_;
  AdjacencyCache* cache_;
  std::span<const VertexRef> vertices_;
  const std::vector<Segment>& segments_;
  const size_t lookahead_;
  std::vector<Window> windows_;  // by segment
  bool known_too_large_ = false;
};

// Copies ends [begin, end) of a cached segment.
void CopyEnds(const AdjacencyKey& key, const Adjacency& from, size_t begin, size_t end,
              uint32_t row, bool want_edges, Expansion* out) {
  out->rows.insert(out->rows.end(), end - begin, row);
  out->neighbours.insert(out->neighbours.end(), from.neighbours.begin() + begin,
                         from.neighbours.begin() + end);
  if (!want_edges) return;
  for (size_t run = 0; run < from.runs.size(); ++run) {
    const size_t run_end = std::min(end, from.RunEnd(run));
    for (size_t i = std::max<size_t>(begin, from.runs[run].begin); i < run_end; ++i) {
      out->edges.push_back(EdgeEnd{key.vertex, key.direction, from.runs[run].label,
                                   from.neighbours[i], from.edge_ids[i]}
                               .edge());
    }
  }
}

EdgeEnd EndAt(const AdjacencyKey& key, const Adjacency& from, size_t index) {
  size_t run = from.runs.size() - 1;
  while (from.runs[run].begin > index) --run;
  return {key.vertex, key.direction, from.runs[run].label, from.neighbours[index],
          from.edge_ids[index]};
}

// Where `resume` lies among a vertex's segments.
StatusOr<size_t> SegmentOf(const std::vector<Segment>& segments, const EdgeEnd& resume) {
  for (size_t i = 0; i < segments.size(); ++i) {
    const bool same_label = segments[i].label == kNoName || segments[i].label == resume.label;
    if (segments[i].direction == resume.direction && same_label) return i;
  }
  return Internal("An expansion was resumed with other directions or labels.");
}

// One call of Expand: its output and how far it got.
struct ExpandCall {
  SegmentReader reader;
  bool want_edges;
  size_t full;  // rows of `out` when it is
  Expansion* out;
  EdgeEnd last;  // the last end given of the row at hand
  bool given = false;

  // Gives ends of one segment after `resume` (null: from its start) until `out` is full; returns
  // whether the segment is finished.
  StatusOr<bool> Run(uint32_t row, size_t segment, const EdgeEnd* resume) {
    const AdjacencyKey key = reader.KeyOf(row, segment);
    const size_t limit = full - out->rows.size();
    std::shared_ptr<const Adjacency> cached = reader.Cached(row, segment);
    if (cached == nullptr && resume != nullptr) {
      ASSIGN_OR_RETURN(cached, reader.Load(key));
    }
    if (cached != nullptr) {
      const size_t size = cached->neighbours.size();
      const size_t begin =
          resume == nullptr ? 0 : cached->After(resume->label, resume->neighbour, resume->edge_id);
      const size_t end = begin + std::min(limit, size - begin);
      if (end == begin) return end == size;
      CopyEnds(key, *cached, begin, end, row, want_edges, out);
      last = EndAt(key, *cached, end - 1);
      given = true;
      return end == size;
    }
    const std::string after = resume == nullptr ? std::string() : EdgeEndKey(*resume);
    return reader.Stream(key, after, limit, [&](const EdgeEnd& end) {
      out->rows.push_back(row);
      out->neighbours.push_back(end.neighbour);
      if (want_edges) out->edges.push_back(end.edge());
      last = end;
      given = true;
    });
  }
};

}  // namespace

Status RocksView::Expand(std::span<const VertexRef> vertices, Direction direction,
                         std::span<const LabelId> labels, bool want_edges, ExpandCursor* cursor,
                         size_t limit, Expansion* out) const {
  const std::vector<Segment> segments = MakeSegments(direction, labels);
  ExpandCall call{
      SegmentReader(snapshot_, version_, cache_.get(), vertices, segments, kExpandLookahead),
      want_edges,
      FullSize(out->rows.size(), limit),
      out,
      {}};
  for (; cursor->row < vertices.size(); ++cursor->row, cursor->resume_key.clear()) {
    size_t segment = 0;
    EdgeEnd resume;
    bool resumed = !cursor->resume_key.empty();
    if (resumed) {
      RETURN_IF_ERROR(DecodeEdgeEndKey(cursor->resume_key, &resume));
      ASSIGN_OR_RETURN(segment, SegmentOf(segments, resume));
    }
    call.given = false;
    for (bool finished = true; segment < segments.size(); ++segment, resumed = false) {
      if (out->rows.size() < call.full) {
        ASSIGN_OR_RETURN(finished, call.Run(static_cast<uint32_t>(cursor->row), segment,
                                            resumed ? &resume : nullptr));
        if (finished) continue;
      }
      if (call.given) cursor->resume_key = EdgeEndKey(call.last);
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
  SegmentReader reader(snapshot_, version_, cache_.get(), vertices, segments, kDegreesLookahead);
  for (; cursor->row < vertices.size(); ++cursor->row) {
    if (limit == 0) return OkStatus();
    size_t segment = 0;
    EdgeEnd end;  // the last one counted
    bool resumed = !cursor->resume_key.empty();
    if (resumed) {
      RETURN_IF_ERROR(DecodeEdgeEndKey(cursor->resume_key, &end));
      ASSIGN_OR_RETURN(segment, SegmentOf(segments, end));
    }
    for (; segment < segments.size(); ++segment, resumed = false, cursor->resume_key.clear()) {
      const auto cached = resumed ? nullptr : reader.Cached(cursor->row, segment);
      if (cached != nullptr) {
        cursor->counted += static_cast<int64_t>(cached->neighbours.size());
        continue;
      }
      size_t read = 0;
      const auto count = [&](const EdgeEnd& next) {
        ++read;
        end = next;
      };
      ASSIGN_OR_RETURN(const bool finished,
                       reader.Stream(reader.KeyOf(cursor->row, segment), cursor->resume_key,
                                     std::max<size_t>(limit, 1), count));
      cursor->counted += static_cast<int64_t>(read);
      limit -= std::min(limit, read);
      if (finished) continue;
      cursor->resume_key = EdgeEndKey(end);
      return OkStatus();
    }
    out->push_back(std::exchange(cursor->counted, 0));
    limit -= std::min<size_t>(limit, 1);
  }
  cursor->done = true;
  return OkStatus();
}

}  // namespace koios::storage
