// Expansion of SnapshotView to neighbours of some labels: which ones they are is told from the runs
// of vertices while the lists are read in place, so that the others are never copied.
#include <algorithm>
#include <array>
#include <utility>

#include "storage/view/expand_resume.h"
#include "storage/view/snapshot_view.h"
#include "storage/view/window_lists.h"

namespace koios::storage {
namespace {

// Neighbours that are looked at before those that fit go to the output.
constexpr size_t kPicked = 256;

// Puts those of `count` neighbours that have the labels into `out`, which has room for all.
template <bool kOneRun, typename Get>
size_t Pick(const VertexRuns::Labelled& labelled, const Get& get, size_t count, VertexRef* out) {
  size_t picked = 0;
  for (size_t i = 0; i < count; ++i) {
    const VertexRef neighbour = get(i);
    out[picked] = neighbour;
    picked += labelled.Has<kOneRun>(neighbour) ? 1 : 0;
  }
  return picked;
}

size_t PickFrom(const SnapshotAdjacency& table, uint64_t begin, size_t count,
                const VertexRuns::Labelled& labelled, VertexRef* out) {
  const auto pick = [&](const auto& get) {
    return labelled.is_one_run() ? Pick<true>(labelled, get, count, out)
                                 : Pick<false>(labelled, get, count, out);
  };
  if (table.is_wide()) {
    return pick([from = table.wide() + begin](size_t i) { return VertexRef{from[i]}; });
  }
  return pick([from = table.narrow() + begin, refs = table.refs()](size_t i) {
    return refs.Widen(from[i]);
  });
}

// What is left to do in one call.
struct Room {
  size_t ends = 0;    // to give
  size_t looked = 0;  // at
};

// Gives those of a list from *given on that have the labels, as far as there is room.
void GiveList(const WindowLists::List& list, uint32_t row, const VertexRuns::Labelled& labelled,
              uint64_t* given, Room* room, Expansion* out) {
  std::array<VertexRef, kPicked> picked;
  while (*given < list.slice.count && room->ends > 0 && room->looked > 0) {
    const size_t count = std::min({list.slice.count - *given, kPicked, room->ends, room->looked});
    const size_t fitting =
        PickFrom(*list.adjacency, list.slice.begin + *given, count, labelled, picked.data());
    out->rows.insert(out->rows.end(), fitting, row);
    out->neighbours.insert(out->neighbours.end(), picked.data(), picked.data() + fitting);
    *given += count;
    room->looked -= count;
    room->ends -= fitting;
  }
}

}  // namespace

Status SnapshotView::ExpandTo(std::span<const VertexRef> vertices, Direction direction,
                              std::span<const LabelId> labels,
                              std::span<const LabelId> neighbour_labels, ExpandCursor* cursor,
                              size_t limit, Expansion* out) const {
  if (!snapshots_->vertex_runs().whole()) {
    return GraphView::ExpandTo(vertices, direction, labels, neighbour_labels, cursor, limit, out);
  }
  const VertexRuns::Labelled labelled(snapshots_->vertex_runs(), neighbour_labels);
  WindowLists lists(*snapshots_, direction, labels);
  Room room{limit, kMostPassedOver};
  size_t window_rows = kWindow;
  while (cursor->row < vertices.size() && room.ends > 0 && room.looked > 0) {
    const Room before = room;
    const std::span<const VertexRef> some =
        vertices.subspan(cursor->row, std::min(window_rows, vertices.size() - cursor->row));
    RETURN_IF_ERROR(lists.Find(some));
    for (size_t row = 0; row < some.size(); ++row, ++cursor->row) {
      if (room.ends == 0 || room.looked == 0) return DamageOf(some);
      const auto number = static_cast<uint32_t>(cursor->row);
      const bool resumes = !cursor->resume_key.empty();
      if (resumes ? MergedResume::IsIn(cursor->resume_key)
                  : HasChangedEnds(some[row], direction, labels)) {
        ExpandCursor merged;
        merged.resume_key = std::move(cursor->resume_key);
        cursor->resume_key.clear();
        const size_t size = out->rows.size();
        RETURN_IF_ERROR(GraphView::ExpandTo(some.subspan(row, 1), direction, labels,
                                            neighbour_labels, &merged, room.ends, out));
        std::fill(out->rows.begin() + static_cast<std::ptrdiff_t>(size), out->rows.end(), number);
        room.ends -= out->rows.size() - size;
        room.looked -= std::min(room.looked, std::max<size_t>(1, out->rows.size() - size));
        if (merged.done) continue;
        cursor->resume_key = std::move(merged.resume_key);
        return DamageOf(some);
      }
      ASSIGN_OR_RETURN(Resume at, Resume::Decode(cursor->resume_key));
      cursor->resume_key.clear();
      for (const uint32_t num_lists = lists.NumLists(row); at.list < num_lists;
           ++at.list, at.given = 0) {
        const WindowLists::List list = lists.ListOf(row, at.list);
        GiveList(list, number, labelled, &at.given, &room, out);
        if (at.given == list.slice.count) continue;
        cursor->resume_key = at.Encode();
        return DamageOf(some);
      }
    }
    RETURN_IF_ERROR(DamageOf(some));
    window_rows = NextWindow(some.size(), before.looked - room.looked, room.looked);
  }
  cursor->done = cursor->row == vertices.size();
  return OkStatus();
}

}  // namespace koios::storage
