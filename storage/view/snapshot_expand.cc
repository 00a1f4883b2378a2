// Expansion and degrees of SnapshotView: the lists of a window of vertices are found table by
// table, then read in place, row by row. Where the delta has changed a row its lists are merged
// with the changes; between two of them whole stretches are copied.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <tuple>

#include "storage/view/degree_tables.h"
#include "storage/view/edge_places.h"
#include "storage/view/expand_resume.h"
#include "storage/view/snapshot_view.h"
#include "storage/view/window_lists.h"

namespace koios::storage {
namespace {

// Edges of lists, as references. Those of in-lists without ids are found at their out vertices, all
// of a window together: until Finish() they lack their ids.
class EdgeReader {
 public:
  explicit EdgeReader(const SnapshotSet& snapshots) : snapshots_(snapshots) {}

  // Edges [slice.begin + given, ... + count) of a vertex's list.
  Status Read(const SnapshotAdjacency& table, VertexRef vertex, const ListSlice& slice,
              uint64_t given, size_t count, std::vector<EdgeRef>* out) {
    const LabelId label = table.name().parent;
    const uint64_t begin = slice.begin + given;
    if (count == 0) return OkStatus();
    if (table.has_edge_ids()) {
      ids_.resize(count);
      RETURN_IF_ERROR(table.EdgeIdsFrom(begin, count, ids_.data()));
      const size_t before = out->size();
      out->resize(before + count);
      EdgeRef* const edges = out->data() + before;
      if (table.name().index == SectionIndex::kOut) {
        for (size_t i = 0; i < count; ++i) {
          const VertexRef to = table.NeighbourAt(begin + i);
          edges[i] = {ids_[i], vertex, to, label, EdgePlaces::HintOf(begin + i)};
        }
      } else {
        for (size_t i = 0; i < count; ++i) {
          edges[i] = {ids_[i], table.NeighbourAt(begin + i), vertex, label};
        }
      }
      return OkStatus();
    }
    uint64_t rank = table.NthOf(slice, begin);
    VertexRef last;
    for (size_t i = 0; i < count; ++i) {
      const VertexRef from = table.NeighbourAt(begin + i);
      if (i > 0) rank = from == last ? rank + 1 : 0;
      last = from;
      unfinished_.push_back(out->size());
      ranks_.push_back(rank);
      out->push_back({0, from, vertex, label});
    }
    return OkStatus();
  }

  // REQUIRES: `out` is what was read into.
  Status Finish(std::vector<EdgeRef>* out) {
    if (unfinished_.empty()) return OkStatus();
    edges_.clear();
    for (const size_t at : unfinished_) edges_.push_back((*out)[at]);
    RETURN_IF_ERROR(places_.FindByRank(snapshots_, edges_, ranks_));
    size_t found = 0;
    for (const EdgePlaces::Group& group : places_.groups()) {
      const std::span<const uint32_t> inputs = places_.Inputs(group);
      const std::span<const uint64_t> positions = places_.Positions(group);
      ids_.resize(positions.size());
      RETURN_IF_ERROR(group.table->EdgeIds(positions, ids_.data()));
      for (size_t i = 0; i < inputs.size(); ++i) {
        EdgeRef& edge = (*out)[unfinished_[inputs[i]]];
        edge.id = ids_[i];
        edge.place_hint = EdgePlaces::HintOf(positions[i]);
      }
      found += inputs.size();
    }
    if (found < unfinished_.size()) {
      return DataLoss("An edge of a snapshot is at one of its ends only.");
    }
    unfinished_.clear();
    ranks_.clear();
    return OkStatus();
  }

 private:
  const SnapshotSet& snapshots_;
  EdgePlaces places_;
  std::vector<uint64_t> ids_;
  std::vector<size_t> unfinished_;  // their numbers in the output
  std::vector<uint64_t> ranks_;
  std::vector<EdgeRef> edges_;
};

// Neighbours of a list, made into what vectors take without filling them with nothing before.
template <typename Get>
class NeighbourIterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = VertexRef;
  using difference_type = std::ptrdiff_t;
  using pointer = const VertexRef*;
  using reference = VertexRef;

  NeighbourIterator(const Get* get, uint64_t position) : get_(get), position_(position) {}
  VertexRef operator*() const { return (*get_)(position_); }
  NeighbourIterator& operator++() {
    ++position_;
    return *this;
  }
  NeighbourIterator& operator--() {
    --position_;
    return *this;
  }
  NeighbourIterator& operator+=(std::ptrdiff_t n) {
    position_ += static_cast<uint64_t>(n);
    return *this;
  }
  std::ptrdiff_t operator-(const NeighbourIterator& other) const {
    return static_cast<std::ptrdiff_t>(position_ - other.position_);
  }
  bool operator==(const NeighbourIterator& other) const { return position_ == other.position_; }

 private:
  const Get* get_;
  uint64_t position_;
};

void CopyNeighbours(const SnapshotAdjacency& table, uint64_t begin, size_t count,
                    std::vector<VertexRef>* out) {
  const auto copy = [&](const auto& get) {
    out->insert(out->end(), NeighbourIterator(&get, begin), NeighbourIterator(&get, begin + count));
  };
  if (table.is_wide()) {
    copy([from = table.wide()](uint64_t position) { return VertexRef{from[position]}; });
  } else {
    copy([from = table.narrow(), refs = table.refs()](uint64_t position) {
      return refs.Widen(from[position]);
    });
  }
}

void Reserve(size_t ends, bool want_edges, Expansion* out) {
  out->rows.reserve(ends);
  out->neighbours.reserve(ends);
  if (want_edges) out->edges.reserve(ends);
}

// The ends of one vertex that the delta has changed.
class MergedRow {
 public:
  // `edges`: of the expansion.
  MergedRow(const SnapshotSet& snapshots, const DeltaAt& at, EdgeReader* edges, bool want_edges)
      : at_(at), edges_(edges), single_(snapshots), want_edges_(want_edges) {}

  void Start(VertexRef vertex, const WindowLists& lists, size_t row) {
    vertex_ = vertex;
    parts_.clear();
    for (uint32_t i = 0; i < lists.NumLists(row); ++i) {
      const WindowLists::List list = lists.ListOf(row, i);
      const SectionName& name = list.adjacency->name();
      const bool out = name.index == SectionIndex::kOut;
      parts_.push_back({out ? Direction::kOut : Direction::kIn, name.parent, list});
    }
    for (const Direction one : {Direction::kOut, Direction::kIn}) {
      if (lists.Wants(one)) AddParts(one, lists);
    }
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const Part& a, const Part& b) { return a.Order() < b.Order(); });
  }

  // Gives ends from *at on, as `row`, until `out` has `full` or much was passed over; false: more
  // are left, from *at on.
  StatusOr<bool> Give(uint32_t row, size_t full, MergedResume* at, Expansion* out) {
    const auto start = std::tuple(at->direction, at->label);
    for (const Part& part : parts_) {
      if (part.Order() < start) continue;
      if (part.Order() > start || at->label == kNoName) *at = {part.direction, part.label};
      ASSIGN_OR_RETURN(const bool finished, GivePart(part, row, full, at, out));
      if (!finished) return false;
      *at = {part.direction, part.label + 1};
    }
    return true;
  }

  // Adds up ends from *at on (`given`: those of the base are in it), looking at `*limit` changes at
  // most; false: more are left, from *at on.
  bool Count(MergedResume* at, size_t* limit, int64_t* count) {
    const auto start = std::tuple(at->direction, at->label);
    for (const Part& part : parts_) {
      if (part.Order() < start) continue;
      if (part.Order() > start || at->label == kNoName) *at = {part.direction, part.label};
      if (at->given == 0) *count += static_cast<int64_t>(part.list.slice.count);
      at->given = 1;
      SortedChanges::Reader changes = ChangesOf(part.direction);
      for (changes.Seek(at->Next()); IsOf(changes, part); changes.Next()) {
        if (*limit == 0) return false;
        --*limit;
        *count += changes.change().difference;
        at->Pass(changes.change().key);
      }
      *at = {part.direction, part.label + 1};
    }
    return true;
  }

 private:
  struct Part {
    Direction direction = Direction::kOut;
    LabelId label = kNoName;
    WindowLists::List list;  // of the base; without adjacency: none
    std::tuple<Direction, LabelId> Order() const { return {direction, label}; }
  };

  SortedChanges::Reader ChangesOf(Direction direction) const {
    return at_.delta->Of(vertex_.partition()).Ends(vertex_.local(), direction, at_.version);
  }
  static bool IsOf(const SortedChanges::Reader& changes, const Part& part) {
    return changes.Valid() && changes.change().key.label == part.label;
  }

  // Labels that only the delta has.
  void AddParts(Direction direction, const WindowLists& lists) {
    SortedChanges::Reader changes = ChangesOf(direction);
    const size_t from_base = parts_.size();
    const auto add = [&](LabelId label) {
      const auto same = [&](const Part& part) {
        return part.direction == direction && part.label == label;
      };
      const auto end = parts_.begin() + static_cast<std::ptrdiff_t>(from_base);
      if (std::none_of(parts_.begin(), end, same)) parts_.push_back({direction, label, {}});
    };
    if (!lists.all_labels()) {
      for (const LabelId label : lists.labels()) {
        changes.Seek({label, 0, 0});
        if (changes.Valid() && changes.change().key.label == label) add(label);
      }
      return;
    }
    for (changes.Seek({}); changes.Valid(); changes.Seek({changes.change().key.label + 1, 0, 0})) {
      add(changes.change().key.label);
    }
  }

  // `count` ends of the base, or as many as there is room for; false: there was none for all.
  StatusOr<bool> GiveBase(const Part& part, uint64_t count, uint32_t row, size_t full,
                          MergedResume* at, Expansion* out) {
    const uint64_t given = std::min<uint64_t>(count, full - out->rows.size());
    if (given == 0) return count == 0;
    out->rows.insert(out->rows.end(), given, row);
    CopyNeighbours(*part.list.adjacency, part.list.slice.begin + at->given, given,
                   &out->neighbours);
    if (want_edges_) {
      RETURN_IF_ERROR(edges_->Read(*part.list.adjacency, vertex_, part.list.slice, at->given, given,
                                   &out->edges));
    }
    at->given += given;
    return given == count;
  }

  bool GiveAdded(const Part& part, const ChangeKey& key, uint32_t row, size_t full,
                 Expansion* out) const {
    if (out->rows.size() == full) return false;
    const VertexRef neighbour{key.first};
    out->rows.push_back(row);
    out->neighbours.push_back(neighbour);
    if (!want_edges_) return true;
    const bool is_out = part.direction == Direction::kOut;
    out->edges.push_back(
        {key.second, is_out ? vertex_ : neighbour, is_out ? neighbour : vertex_, part.label});
    return true;
  }

  // Of the list of the base, from `from` on, the first end whose neighbour is not before `bits`.
  static uint64_t FirstNotBefore(const Part& part, uint64_t from, uint64_t bits) {
    if (part.list.adjacency == nullptr) return from;
    const ListSlice& slice = part.list.slice;
    const ListSlice rest{slice.begin + from, slice.count - from};
    return part.list.adjacency->FirstNotBefore(rest, {bits}) - slice.begin;
  }

  StatusOr<uint64_t> EdgeAt(const Part& part, uint64_t index) {
    one_edge_.clear();
    RETURN_IF_ERROR(
        single_.Read(*part.list.adjacency, vertex_, part.list.slice, index, 1, &one_edge_));
    RETURN_IF_ERROR(single_.Finish(&one_edge_));
    return one_edge_[0].id;
  }

  // The ends of the base before the change, of parallel edges those with smaller ids; then passes
  // over the end that was removed.
  StatusOr<bool> GiveUpTo(const Part& part, const SortedChanges::Change& change, uint32_t row,
                          size_t full, MergedResume* at, Expansion* out) {
    const uint64_t first = FirstNotBefore(part, at->given, change.key.first);
    ASSIGN_OR_RETURN(bool room, GiveBase(part, first - at->given, row, full, at, out));
    while (room && at->given < part.list.slice.count &&
           part.list.adjacency->NeighbourAt(part.list.slice.begin + at->given).bits ==
               change.key.first) {
      ASSIGN_OR_RETURN(const uint64_t edge, EdgeAt(part, at->given));
      if (edge > change.key.second) break;
      if (edge == change.key.second) {
        ++at->given;
        break;
      }
      ASSIGN_OR_RETURN(room, GiveBase(part, 1, row, full, at, out));
    }
    return room;
  }

  StatusOr<bool> GivePart(const Part& part, uint32_t row, size_t full, MergedResume* at,
                          Expansion* out) {
    SortedChanges::Reader changes = ChangesOf(part.direction);
    changes.Seek(at->Next());
    for (; IsOf(changes, part); changes.Next()) {
      const SortedChanges::Change change = changes.change();
      if (change.difference != 0) {
        ASSIGN_OR_RETURN(const bool room, GiveUpTo(part, change, row, full, at, out));
        if (!room) return false;
      }
      if (change.difference > 0 && !GiveAdded(part, change.key, row, full, out)) return false;
      at->Pass(change.key);
      if (change.difference <= 0 && ++passed_over_ >= kMostPassedOver) return false;
    }
    return GiveBase(part, part.list.slice.count - at->given, row, full, at, out);
  }

  const DeltaAt at_;
  EdgeReader* const edges_;
  EdgeReader single_;
  const bool want_edges_;
  size_t passed_over_ = 0;  // ends that are gone, or not there yet
  VertexRef vertex_;
  std::vector<Part> parts_;
  std::vector<EdgeRef> one_edge_;
};

}  // namespace

bool SnapshotView::HasChangedEnds(VertexRef vertex, Direction direction,
                                  std::span<const LabelId> labels) const {
  if (delta_ == nullptr || vertex.partition() >= delta_->num_partitions()) return false;
  const PartitionDelta& partition = delta_->Of(vertex.partition());
  const uint8_t touched = partition.Touched(vertex.local());
  const auto has = [&](Direction one, uint8_t bit) {
    return direction != (one == Direction::kOut ? Direction::kIn : Direction::kOut) &&
           (touched & bit) != 0 && partition.HasEnds(one, labels);
  };
  return has(Direction::kOut, TouchedBits::kOutEnds) || has(Direction::kIn, TouchedBits::kInEnds);
}

Status SnapshotView::Expand(std::span<const VertexRef> vertices, Direction direction,
                            std::span<const LabelId> labels, bool want_edges, ExpandCursor* cursor,
                            size_t limit, Expansion* out) const {
  const size_t full = FullSize(out->rows.size(), limit);
  WindowLists lists(*snapshots_, direction, labels);
  EdgeReader edges(*snapshots_);
  MergedRow merged(*snapshots_, at_, &edges, want_edges);
  const auto finish = [&](std::span<const VertexRef> read) -> Status {
    RETURN_IF_ERROR(edges.Finish(&out->edges));
    return DamageOf(read);
  };
  MergedResume merged_at;
  const bool resumes_merged = MergedResume::IsIn(cursor->resume_key);
  // A row that was begun as clean is: what has touched it since is of later versions.
  bool resumes_clean = !cursor->resume_key.empty() && !resumes_merged;
  if (resumes_merged) {
    std::memcpy(&merged_at, cursor->resume_key.data(), sizeof(merged_at));
    cursor->resume_key.clear();
  }
  ASSIGN_OR_RETURN(Resume at, Resume::Decode(cursor->resume_key));
  size_t window_rows = kWindow;
  const size_t first = cursor->row;
  while (cursor->row < vertices.size()) {
    const size_t window = cursor->row;
    const size_t before = out->rows.size();
    const std::span<const VertexRef> some =
        vertices.subspan(window, std::min(window_rows, vertices.size() - window));
    RETURN_IF_ERROR(lists.Find(some));
    if (window == first) {
      Reserve(before + std::min<uint64_t>(lists.num_ends(), full - before), want_edges, out);
    }
    for (size_t row = 0; row < some.size(); ++row, ++cursor->row, at = {}) {
      if (!std::exchange(resumes_clean, false) && HasChangedEnds(some[row], direction, labels)) {
        merged.Start(some[row], lists, row);
        ASSIGN_OR_RETURN(const bool finished,
                         merged.Give(static_cast<uint32_t>(cursor->row), full, &merged_at, out));
        if (finished) {
          merged_at = {};
          continue;
        }
        cursor->resume_key = merged_at.Encode();
        return finish(some);
      }
      for (const uint32_t num_lists = lists.NumLists(row); at.list < num_lists;
           ++at.list, at.given = 0) {
        const WindowLists::List list = lists.ListOf(row, at.list);
        const auto count = static_cast<size_t>(
            std::min<uint64_t>(full - out->rows.size(), list.slice.count - at.given));
        out->rows.insert(out->rows.end(), count, static_cast<uint32_t>(cursor->row));
        CopyNeighbours(*list.adjacency, list.slice.begin + at.given, count, &out->neighbours);
        if (want_edges && count > 0) {
          RETURN_IF_ERROR(
              edges.Read(*list.adjacency, some[row], list.slice, at.given, count, &out->edges));
        }
        at.given += count;
        if (at.given == list.slice.count) continue;
        cursor->resume_key = at.Encode();
        return finish(some);
      }
    }
    RETURN_IF_ERROR(finish(some));
    window_rows = NextWindow(some.size(), out->rows.size() - before, full - out->rows.size());
  }
  cursor->resume_key.clear();
  cursor->done = true;
  return OkStatus();
}

namespace {

// One row by itself, as the row that it is for another visitor.
class OneRow final : public EndVisitor {
 public:
  OneRow(uint32_t row, EndVisitor* visitor) : row_(row), visitor_(visitor) {}
  void Visit(uint32_t, std::span<const VertexRef> neighbours) override {
    seen_ += neighbours.size();
    visitor_->Visit(row_, neighbours);
  }
  void VisitNarrow(uint32_t, std::span<const uint32_t> neighbours,
                   const NarrowRefs& refs) override {
    seen_ += neighbours.size();
    visitor_->VisitNarrow(row_, neighbours, refs);
  }
  size_t seen() const { return seen_; }

 private:
  const uint32_t row_;
  EndVisitor* const visitor_;
  size_t seen_ = 0;
};

void VisitList(const SnapshotAdjacency& table, uint64_t begin, size_t count, uint32_t row,
               std::vector<VertexRef>* wide, EndVisitor* visitor) {
  if (count == 0) return;
  if (!table.is_wide()) {
    visitor->VisitNarrow(row, {table.narrow() + begin, count}, table.refs());
    return;
  }
  wide->clear();
  CopyNeighbours(table, begin, count, wide);
  visitor->Visit(row, *wide);
}

}  // namespace

Status SnapshotView::VisitEnds(std::span<const VertexRef> vertices, Direction direction,
                               std::span<const LabelId> labels, ExpandCursor* cursor, size_t limit,
                               EndVisitor* visitor) const {
  WindowLists lists(*snapshots_, direction, labels);
  std::vector<VertexRef> wide;
  size_t window_rows = kWindow;
  while (cursor->row < vertices.size() && limit > 0) {
    const size_t window = cursor->row;
    const size_t before = limit;
    const std::span<const VertexRef> some =
        vertices.subspan(window, std::min(window_rows, vertices.size() - window));
    RETURN_IF_ERROR(lists.Find(some));
    for (size_t row = 0; row < some.size(); ++row, ++cursor->row) {
      if (limit == 0) return DamageOf(some);
      const auto number = static_cast<uint32_t>(cursor->row);
      const bool resumes = !cursor->resume_key.empty();
      if (resumes ? MergedResume::IsIn(cursor->resume_key)
                  : HasChangedEnds(some[row], direction, labels)) {
        OneRow one(number, visitor);
        ExpandCursor merged;
        merged.resume_key = std::move(cursor->resume_key);
        RETURN_IF_ERROR(
            GraphView::VisitEnds(some.subspan(row, 1), direction, labels, &merged, limit, &one));
        cursor->resume_key = std::move(merged.resume_key);
        if (!merged.done) return OkStatus();
        limit -= std::min(limit, one.seen());
        continue;
      }
      ASSIGN_OR_RETURN(Resume at, Resume::Decode(cursor->resume_key));
      cursor->resume_key.clear();
      for (const uint32_t num_lists = lists.NumLists(row); at.list < num_lists;
           ++at.list, at.given = 0) {
        const WindowLists::List list = lists.ListOf(row, at.list);
        const size_t count = std::min<uint64_t>(limit, list.slice.count - at.given);
        VisitList(*list.adjacency, list.slice.begin + at.given, count, number, &wide, visitor);
        at.given += count;
        limit -= count;
        if (at.given == list.slice.count) continue;
        cursor->resume_key = at.Encode();
        return DamageOf(some);
      }
    }
    RETURN_IF_ERROR(DamageOf(some));
    window_rows = NextWindow(some.size(), before - limit, limit);
  }
  cursor->done = cursor->row == vertices.size();
  return OkStatus();
}

// An edge that the delta has adds to the lists of two vertices; those of one that is gone go, too.
std::optional<int64_t> SnapshotView::TotalEnds(uint32_t partition,
                                               std::span<const LabelId> vertex_labels,
                                               Direction direction,
                                               std::span<const LabelId> labels) const {
  const std::vector<LabelId> wanted = WantedLabels(labels);
  const std::vector<LabelId> of = WantedLabels(vertex_labels);
  const std::span<const LabelSet> sets = snapshots_->Of(partition).label_sets();
  uint64_t total = 0;
  for (const Direction one : {Direction::kOut, Direction::kIn}) {
    if (direction != Direction::kBoth && direction != one) continue;
    if (delta_ != nullptr && delta_->Of(partition).HasEnds(one, labels)) return std::nullopt;
    for (uint32_t set = 0; set < sets.size(); ++set) {
      const auto is_wanted = [&](LabelId label) {
        return std::binary_search(of.begin(), of.end(), label);
      };
      if (!vertex_labels.empty() &&
          std::none_of(sets[set].labels.begin(), sets[set].labels.end(), is_wanted)) {
        continue;
      }
      for (const LabelledAdjacency& labelled : snapshots_->Adjacencies(partition, set, one)) {
        if (labels.empty() || std::binary_search(wanted.begin(), wanted.end(), labelled.label)) {
          total += labelled.adjacency->num_positions();
        }
      }
    }
  }
  return static_cast<int64_t>(total);
}

// Whether what was read of the vertices' lists is what was written.
Status SnapshotView::DamageOf(std::span<const VertexRef> vertices) const {
  uint32_t last = ~uint32_t{0};
  for (const VertexRef vertex : vertices) {
    const uint32_t partition = vertex.partition();
    if (partition == last || partition >= snapshots_->num_partitions()) continue;
    RETURN_IF_ERROR(snapshots_->Of(partition).Damage());
    last = partition;
  }
  return OkStatus();
}

Status SnapshotView::CountEnds(std::span<const VertexRef> vertices, Direction direction,
                               std::span<const LabelId> labels, DegreeCursor* cursor, size_t limit,
                               std::vector<int64_t>* out) const {
  DegreeTables tables(*snapshots_, at_, direction, labels);
  WindowLists lists(*snapshots_, direction, labels);
  MergedRow merged(*snapshots_, at_, nullptr, /*want_edges=*/false);
  MergedResume at;
  if (MergedResume::IsIn(cursor->resume_key)) {
    std::memcpy(&at, cursor->resume_key.data(), sizeof(at));
  }
  cursor->resume_key.clear();
  std::vector<uint32_t> touched;
  while (cursor->row < vertices.size() && limit > 0) {
    const size_t count = std::min({kMostWindow, limit, vertices.size() - cursor->row});
    const std::span<const VertexRef> some = vertices.subspan(cursor->row, count);
    const size_t begin = out->size();
    touched.clear();
    ASSIGN_OR_RETURN(const bool told, tables.Tell(some, out, &touched));
    if (!told) RETURN_IF_ERROR(lists.Find(some));
    for (uint32_t row = 0; !told && row < count; ++row) {
      if (HasChangedEnds(some[row], direction, labels)) touched.push_back(row);
      int64_t ends = 0;
      for (uint32_t i = 0; i < lists.NumLists(row); ++i) {
        ends += static_cast<int64_t>(lists.ListOf(row, i).slice.count);
      }
      out->push_back(ends);
    }
    for (const uint32_t row : touched) {
      RETURN_IF_ERROR(lists.Find(some.subspan(row, 1)));
      merged.Start(some[row], lists, 0);
      if (!merged.Count(&at, &limit, &cursor->counted)) {
        out->resize(begin + row);
        cursor->row += row;
        cursor->resume_key = at.Encode();
        return OkStatus();
      }
      (*out)[begin + row] = std::exchange(cursor->counted, 0);
      at = {};
    }
    cursor->row += count;
    limit -= std::min(limit, count);
  }
  cursor->done = cursor->row == vertices.size();
  return OkStatus();
}

}  // namespace koios::storage
