// Expansion and degrees of SnapshotView: the lists of a window of vertices are found table by
// table, then read in place, row by row.
#include <algorithm>
#include <cstring>

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
      if (direction_ != Direction::kBoth && direction_ != one) continue;
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

}  // namespace

Status SnapshotView::Expand(std::span<const VertexRef> vertices, Direction direction,
                            std::span<const LabelId> labels, bool want_edges, ExpandCursor* cursor,
                            size_t limit, Expansion* out) const {
  const size_t full = FullSize(out->rows.size(), limit);
  WindowLists lists(*snapshots_, direction, labels);
  EdgeReader edges(*snapshots_);
  ASSIGN_OR_RETURN(Resume at, Resume::Decode(cursor->resume_key));
  size_t window_rows = kWindow;
  while (cursor->row < vertices.size()) {
    const size_t window = cursor->row;
    const size_t before = out->rows.size();
    const std::span<const VertexRef> some =
        vertices.subspan(window, std::min(window_rows, vertices.size() - window));
    RETURN_IF_ERROR(lists.Find(some));
    for (size_t row = 0; row < some.size(); ++row, ++cursor->row, at = {}) {
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
  WindowLists lists(*snapshots_, direction, labels);
  while (cursor->row < vertices.size() && limit > 0) {
    const size_t count = std::min({kMostWindow, limit, vertices.size() - cursor->row});
    RETURN_IF_ERROR(lists.Find(vertices.subspan(cursor->row, count)));
    for (size_t row = 0; row < count; ++row) {
      int64_t ends = 0;
      for (uint32_t i = 0; i < lists.NumLists(row); ++i) {
        ends += static_cast<int64_t>(lists.ListOf(row, i).slice.count);
      }
      out->push_back(ends);
    }
    cursor->row += count;
    limit -= count;
  }
  cursor->done = cursor->row == vertices.size();
  return OkStatus();
}

}  // namespace koios::storage
