#include "storage/snapshot/snapshot_check.h"

#include <algorithm>
#include <vector>

namespace koios::storage {
namespace {

constexpr uint64_t kChecksPerWatch = 1024;

class SnapshotChecker {
 public:
  SnapshotChecker(const PartitionSnapshot& snapshot,
                  const std::function<void(const std::string& problem)>& problem,
                  const std::function<Status(uint64_t entries)>& watch)
      : snapshot_(snapshot), problem_(problem), watch_(watch) {}

  Status Run() {
    for (const auto& [name, section] : snapshot_.sections()) {
      if (!section->TouchAll().ok()) return Problem("has damaged blocks");
      RETURN_IF_ERROR(Watch(section->bytes().size() / 64));
    }
    RETURN_IF_ERROR(CheckVertices());
    uint64_t out_edges = 0, in_edges = 0;
    for (const auto& [name, lists] : snapshot_.adjacencies()) {
      RETURN_IF_ERROR(CheckLists(*lists));
      (name.index == SectionIndex::kOut ? out_edges : in_edges) += lists->facts().edges;
    }
    if (out_edges != snapshot_.header().num_out_edges ||
        in_edges != snapshot_.header().num_in_edges) {
      RETURN_IF_ERROR(Problem("counts other edges than it has"));
    }
    for (const auto& [name, column] : snapshot_.columns()) RETURN_IF_ERROR(CheckColumn(*column));
    if (!snapshot_.Damage().ok()) return Problem("could not be read");
    return OkStatus();
  }

 private:
  Status Problem(const std::string& what) {
    problem_("the snapshot of partition " + std::to_string(snapshot_.partition()) + " " + what);
    return OkStatus();
  }
  Status Watch(uint64_t entries) {
    entries_ += entries;
    if (!watch_ || entries_ < next_watch_) return OkStatus();
    next_watch_ = entries_ + kChecksPerWatch;
    return watch_(entries_);
  }

  Status CheckVertices() {
    std::vector<uint64_t> locals;
    uint64_t found = 0;
    for (uint64_t next = 0; next < snapshot_.header().end_local;) {
      locals.clear();
      if (!snapshot_.ScanVertices(kNoSet, &next, 1024, &locals).ok()) {
        return Problem("has vertices that can't be read");
      }
      std::vector<VertexPlace> places(locals.size());
      if (!snapshot_.Locate(locals, places.data()).ok()) {
        return Problem("has vertices that can't be read");
      }
      for (const VertexPlace& place : places) {
        if (snapshot_.FindVertexColumn(place.set, kNoName) == nullptr) {
          return Problem("has vertices without ids");
        }
      }
      found += locals.size();
      RETURN_IF_ERROR(Watch(locals.size()));
    }
    if (found != snapshot_.header().num_vertices) {
      return Problem("counts other vertices than it has");
    }
    return OkStatus();
  }

  Status CheckLists(const SnapshotAdjacency& lists) {
    uint64_t next = 0;
    std::vector<uint64_t> rows;
    for (uint64_t first = 0; first < lists.facts().rows; first += rows.size()) {
      rows.resize(std::min<uint64_t>(1024, lists.facts().rows - first));
      for (size_t i = 0; i < rows.size(); ++i) rows[i] = first + i;
      std::vector<ListSlice> slices(rows.size());
      if (!lists.Lists(rows, slices.data()).ok()) return Problem("has lists that can't be read");
      for (const ListSlice& list : slices) {
        if (list.count > 0 && list.begin != next) return Problem("has lists that overlap");
        next += list.count;
        for (uint64_t i = 0; i < list.count; ++i) {
          const VertexRef neighbour = lists.NeighbourAt(list.begin + i);
          if (neighbour.partition() >= snapshot_.header().num_partitions) {
            return Problem("has neighbours that are none");
          }
          if (i > 0 && neighbour < lists.NeighbourAt(list.begin + i - 1)) {
            return Problem("has lists that are not sorted");
          }
        }
      }
      RETURN_IF_ERROR(Watch(rows.size()));
    }
    if (next != lists.facts().edges) return Problem("has edges of nobody");
    return lists.has_edge_ids() ? CheckEdgeIds(lists) : OkStatus();
  }

  // They can be read; those of out-edges, which tell where they are, are found.
  Status CheckEdgeIds(const SnapshotAdjacency& lists) {
    std::vector<uint64_t> ids(1024), found(ids.size());
    for (uint64_t first = 0; first < lists.num_positions(); first += ids.size()) {
      ids.resize(std::min<uint64_t>(ids.size(), lists.num_positions() - first));
      if (!lists.EdgeIdsFrom(first, ids.size(), ids.data()).ok()) {
        return Problem("has ids of edges that can't be read");
      }
      RETURN_IF_ERROR(Watch(ids.size()));
      if (lists.name().index != SectionIndex::kOut) continue;
      const auto told = lists.FindByIds(ids, found.data());
      if (!told.ok()) return Problem("has ids of edges that can't be read");
      for (size_t i = 0; *told && i < ids.size(); ++i) {
        if (found[i] != first + i) return Problem("has edges that are not found by their ids");
      }
    }
    return OkStatus();
  }

  // Reads each value.
  Status CheckColumn(const SnapshotColumn& column) {
    const uint64_t entries = column.by_item() ? column.facts().values : column.facts().rows;
    std::vector<uint64_t> batch;
    uint64_t present = 0;
    std::vector<std::optional<Value>> values;
    std::vector<Value> items;
    for (uint64_t first = 0; first < entries; first += batch.size()) {
      batch.resize(std::min<uint64_t>(1024, entries - first));
      for (size_t i = 0; i < batch.size(); ++i) batch[i] = first + i;
      values.clear();
      items.clear();
      const Status read =
          column.by_item() ? column.ItemValues(batch, &items) : column.Values(batch, &values);
      if (!read.ok()) return Problem("has values that can't be read");
      for (const auto& value : values) present += value ? 1 : 0;
      RETURN_IF_ERROR(Watch(batch.size()));
    }
    if (!column.by_item() && present != column.facts().rows_present) {
      return Problem("counts other values than it has");
    }
    return OkStatus();
  }

  const PartitionSnapshot& snapshot_;
  const std::function<void(const std::string& problem)>& problem_;
  const std::function<Status(uint64_t entries)>& watch_;
  uint64_t entries_ = 0;
  uint64_t next_watch_ = 0;
};

}  // namespace

Status CheckSnapshot(const PartitionSnapshot& snapshot,
                     const std::function<void(const std::string& problem)>& problem,
                     const std::function<Status(uint64_t entries)>& watch) {
  return SnapshotChecker(snapshot, problem, watch).Run();
}

}  // namespace koios::storage
