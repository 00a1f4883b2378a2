// Expansion and degrees of SnapshotView: the lists of a window of vertices are found table by
// table, then read in place, row by row. Where the delta has changed a row its lists are merged
// with the changes; between two of them whole stretches are copied.
#include <algorithm>
#include <cstring>
#include <tuple>

#include "storage/view/degree_tables.h"
#include "storage/view/snapshot_view.h"

namespace koios::storage {
namespace {

// Vertices whose lists are found at once, at first: an expansion stops at its limit and does not
// need those behind it. Where lists are short more of them are worth their tables.
constexpr size_t kWindow = 64;
constexpr size_t kMostWindow = 1024;

// Where an expansion goes on in its row: behind so many ends of a list.
struct Resume {
  uint32_t list = 0;
  uint64_t given = 0;

  std::string Encode() const {
    std::string bytes(sizeof(list) + sizeof(given), '\0');
    std::memcpy(bytes.data(), &list, sizeof(list));
    std::memcpy(bytes.data() + sizeof(list), &given, sizeof(given));
    return bytes;
  }
  static StatusOr<Resume> Decode(std::string_view bytes) {
    Resume resume;
    if (bytes.empty()) return resume;
    if (bytes.size() != sizeof(list) + sizeof(given)) {
      return Internal("An expansion was resumed by another view.");
    }
    std::memcpy(&resume.list, bytes.data(), sizeof(list));
    std::memcpy(&resume.given, bytes.data() + sizeof(list), sizeof(given));
    return resume;
  }
};

// The lists of a window of vertices: of each vertex those of both directions and all labels that
// are asked for, in the order in which an expansion gives them.
class WindowLists {
 public:
  WindowLists(const SnapshotSet& snapshots, Direction direction, std::span<const LabelId> labels)
      : snapshots_(snapshots),
        direction_(direction),
        all_labels_(labels.empty()),
        labels_(WantedLabels(labels)) {}

  struct List {
    const SnapshotAdjacency* adjacency = nullptr;
    ListSlice slice;
  };

  Status Find(std::span<const VertexRef> vertices) {
    RETURN_IF_ERROR(placed_.Locate(snapshots_, vertices));
    rows_.assign(vertices.size(), {});
    tables_.clear();
    slices_.clear();
    for (const PlacedRows::Group& group : placed_.groups()) {
      const size_t begin = tables_.size();
      AddTables(group);
      const auto num_lists = static_cast<uint32_t>(tables_.size() - begin);
      const size_t first = slices_.size();
      slices_.resize(first + size_t{num_lists} * group.size());
      for (uint32_t i = 0; i < num_lists; ++i) {
        ListSlice* const slices = slices_.data() + first + size_t{i} * group.size();
        RETURN_IF_ERROR(tables_[begin + i]->Lists(placed_.Rows(group), slices));
        Prefetch(*tables_[begin + i], {slices, group.size()});
      }
      const std::span<const uint32_t> inputs = placed_.Inputs(group);
      for (size_t i = 0; i < inputs.size(); ++i) {
        rows_[inputs[i]] = {static_cast<uint32_t>(begin), num_lists,
                            static_cast<uint32_t>(first + i), group.size()};
      }
    }
    return OkStatus();
  }

  bool Wants(Direction direction) const {
    return direction_ == Direction::kBoth || direction_ == direction;
  }
  bool all_labels() const { return all_labels_; }
  const std::vector<LabelId>& labels() const { return labels_; }

  uint32_t NumLists(size_t row) const { return rows_[row].num_lists; }
  List ListOf(size_t row, uint32_t i) const {
    const RowLists& lists = rows_[row];
    return {tables_[lists.first_table + i], slices_[lists.first_slice + i * lists.stride]};
  }

 private:
  struct RowLists {
    uint32_t first_table = 0;
    uint32_t num_lists = 0;
    uint32_t first_slice = 0;
    uint32_t stride = 0;  // from one list of the row to its next
  };

  void AddTables(const PlacedRows::Group& group) {
    for (const Direction one : {Direction::kOut, Direction::kIn}) {
      if (!Wants(one)) continue;
      for (const LabelledAdjacency& labelled :
           snapshots_.Adjacencies(group.partition, group.set, one)) {
        if (all_labels_ || std::binary_search(labels_.begin(), labels_.end(), labelled.label)) {
          tables_.push_back(labelled.adjacency);
        }
      }
    }
  }

  static void Prefetch(const SnapshotAdjacency& table, std::span<const ListSlice> slices) {
    const size_t width = table.is_wide() ? sizeof(uint64_t) : sizeof(uint32_t);
    const char* const start = table.is_wide() ? reinterpret_cast<const char*>(table.wide())
                                              : reinterpret_cast<const char*>(table.narrow());
    for (const ListSlice& slice : slices) {
      if (slice.count > 0) __builtin_prefetch(start + slice.begin * width);
    }
  }

  const SnapshotSet& snapshots_;
  const Direction direction_;
  const bool all_labels_;
  const std::vector<LabelId> labels_;
  PlacedRows placed_;
  std::vector<RowLists> rows_;
  std::vector<const SnapshotAdjacency*> tables_;  // by group
  std::vector<ListSlice> slices_;                 // by group, list and row
};

// Edges [slice.begin + given, ... + count) of a vertex's list, as references.
class EdgeReader {
 public:
  explicit EdgeReader(const SnapshotSet& snapshots) : snapshots_(snapshots) {}

  Status Read(const SnapshotAdjacency& table, VertexRef vertex, const ListSlice& slice,
              uint64_t given, size_t count, std::vector<EdgeRef>* out) {
    const LabelId label = table.name().parent;
    positions_.resize(count);
    for (size_t i = 0; i < count; ++i) positions_[i] = slice.begin + given + i;
    ids_.resize(count);
    if (table.name().index == SectionIndex::kOut) {
      RETURN_IF_ERROR(table.EdgeIds(positions_, ids_.data()));
      for (size_t i = 0; i < count; ++i) {
        out->push_back({ids_[i], vertex, table.NeighbourAt(positions_[i]), label});
      }
      return OkStatus();
    }
    in_edges_.clear();
    for (const uint64_t position : positions_) in_edges_.push_back({slice, position});
    vertices_.assign(count, vertex);
    places_.resize(count);
    RETURN_IF_ERROR(FindOutPlaces(table, vertices_, in_edges_, snapshots_.all(), places_.data()));
    for (size_t i = 0; i < count; ++i) {
      if (places_[i].adjacency == nullptr) {
        return DataLoss("An edge of a snapshot is at one of its ends only.");
      }
      RETURN_IF_ERROR(places_[i].adjacency->EdgeIds({&places_[i].position, 1}, &ids_[i]));
      out->push_back({ids_[i], table.NeighbourAt(positions_[i]), vertex, label});
    }
    return OkStatus();
  }

 private:
  const SnapshotSet& snapshots_;
  std::vector<uint64_t> positions_, ids_;
  std::vector<InEdge> in_edges_;
  std::vector<VertexRef> vertices_;
  std::vector<OutPlace> places_;
};

void CopyNeighbours(const SnapshotAdjacency& table, uint64_t begin, size_t count,
                    std::vector<VertexRef>* out) {
  const size_t size = out->size();
  out->resize(size + count);
  VertexRef* const to = out->data() + size;
  if (table.is_wide()) {
    for (size_t i = 0; i < count; ++i) to[i] = {table.wide()[begin + i]};
    return;
  }
  const uint32_t* const from = table.narrow() + begin;
  const NarrowRefs& refs = table.refs();
  for (size_t i = 0; i < count; ++i) to[i] = refs.Widen(from[i]);
}

// Where an expansion goes on in a row that is merged: in the list of a direction and a label,
// behind so many ends of the base and the last change.
struct MergedResume {
  Direction direction = Direction::kOut;
  LabelId label = kNoName;
  uint64_t given = 0;
  bool has_last = false;
  uint64_t last_neighbour = 0, last_edge = 0;

  std::string Encode() const {
    std::string bytes(sizeof(*this), '\0');
    std::memcpy(bytes.data(), this, sizeof(*this));
    return bytes;
  }
};
static_assert(sizeof(MergedResume) != sizeof(uint32_t) + sizeof(uint64_t), "see Resume");

// The ends of one vertex that the delta has changed.
class MergedRow {
 public:
  MergedRow(const SnapshotSet& snapshots, const DeltaAt& at, bool want_edges)
      : at_(at), edges_(snapshots), want_edges_(want_edges) {}

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

  // Gives ends from *at on, as `row`, until `out` has `full`; false: more are left, from *at on.
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

  // *looked: changes that were read for it.
  int64_t Count(size_t* looked) {
    int64_t count = 0;
    for (const Part& part : parts_) {
      count += static_cast<int64_t>(part.list.slice.count);
      SortedChanges::Reader changes = ChangesOf(part.direction);
      for (changes.Seek({part.label, 0, 0}); IsOf(changes, part); changes.Next()) {
        count += changes.change().added ? 1 : -1;
        ++*looked;
      }
    }
    return count;
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
      RETURN_IF_ERROR(edges_.Read(*part.list.adjacency, vertex_, part.list.slice, at->given, given,
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
    uint64_t end = part.list.slice.count;
    while (from < end) {
      const uint64_t middle = from + (end - from) / 2;
      if (part.list.adjacency->NeighbourAt(part.list.slice.begin + middle).bits < bits) {
        from = middle + 1;
      } else {
        end = middle;
      }
    }
    return from;
  }

  StatusOr<uint64_t> EdgeAt(const Part& part, uint64_t index) {
    one_edge_.clear();
    RETURN_IF_ERROR(
        edges_.Read(*part.list.adjacency, vertex_, part.list.slice, index, 1, &one_edge_));
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
    changes.Seek({part.label, at->last_neighbour, at->has_last ? at->last_edge + 1 : 0});
    for (; IsOf(changes, part); changes.Next()) {
      const SortedChanges::Change change = changes.change();
      ASSIGN_OR_RETURN(const bool room, GiveUpTo(part, change, row, full, at, out));
      if (!room) return false;
      if (change.added && !GiveAdded(part, change.key, row, full, out)) return false;
      at->has_last = true;
      at->last_neighbour = change.key.first;
      at->last_edge = change.key.second;
    }
    return GiveBase(part, part.list.slice.count - at->given, row, full, at, out);
  }

  const DeltaAt at_;
  EdgeReader edges_;
  const bool want_edges_;
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
  MergedRow merged(*snapshots_, at_, want_edges);
  MergedResume merged_at;
  const bool resumes_merged = cursor->resume_key.size() == sizeof(MergedResume);
  // A row that was begun as clean is: what has touched it since is of later versions.
  bool resumes_clean = !cursor->resume_key.empty() && !resumes_merged;
  if (resumes_merged) {
    std::memcpy(&merged_at, cursor->resume_key.data(), sizeof(merged_at));
    cursor->resume_key.clear();
  }
  ASSIGN_OR_RETURN(Resume at, Resume::Decode(cursor->resume_key));
  size_t window_rows = kWindow;
  while (cursor->row < vertices.size()) {
    const size_t window = cursor->row;
    const size_t before = out->rows.size();
    const std::span<const VertexRef> some =
        vertices.subspan(window, std::min(window_rows, vertices.size() - window));
    RETURN_IF_ERROR(lists.Find(some));
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
        return DamageOf(some);
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
        return DamageOf(some);
      }
    }
    RETURN_IF_ERROR(DamageOf(some));
    // So many that, being as these were, half of what there is room for comes of them.
    const size_t given = out->rows.size() - before;
    const size_t room = std::min(full - out->rows.size(), kMostWindow * kMostWindow) / 2;
    const size_t fitting = room * some.size() / std::max<size_t>(given, 1);
    window_rows = std::clamp(fitting, kWindow, kMostWindow);
  }
  cursor->resume_key.clear();
  cursor->done = true;
  return OkStatus();
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
  MergedRow merged(*snapshots_, at_, /*want_edges=*/false);
  std::vector<uint32_t> touched;
  while (cursor->row < vertices.size() && limit > 0) {
    const size_t count = std::min({kMostWindow, limit, vertices.size() - cursor->row});
    const std::span<const VertexRef> some = vertices.subspan(cursor->row, count);
    size_t looked = 0;
    touched.clear();
    ASSIGN_OR_RETURN(const bool told, tables.Tell(some, out, &touched));
    if (!told) RETURN_IF_ERROR(lists.Find(some));
    for (const uint32_t row : touched) {
      RETURN_IF_ERROR(lists.Find(some.subspan(row, 1)));
      merged.Start(some[row], lists, 0);
      (*out)[out->size() - count + row] = merged.Count(&looked);
    }
    for (size_t row = 0; !told && row < count; ++row) {
      int64_t ends = 0;
      if (HasChangedEnds(some[row], direction, labels)) {
        merged.Start(some[row], lists, row);
        out->push_back(merged.Count(&looked));
        continue;
      }
      for (uint32_t i = 0; i < lists.NumLists(row); ++i) {
        ends += static_cast<int64_t>(lists.ListOf(row, i).slice.count);
      }
      out->push_back(ends);
    }
    cursor->row += count;
    limit -= std::min(limit, count + looked);
  }
  cursor->done = cursor->row == vertices.size();
  return OkStatus();
}

}  // namespace koios::storage
