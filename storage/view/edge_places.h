// EdgePlaces: where the edges of a column are among the out-edges of their label in the snapshots,
// by table, so that each is read for all of its edges at once. Where edges are numbered as they
// stand their ids tell it. Else an edge whose hint is right is where it says; others are searched
// for in the list of their out vertex. Belongs to one call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/view/placed_rows.h"
#include "storage/view/snapshot_set.h"

namespace koios::storage {

class EdgePlaces {
 public:
  // Edges of one table.
  struct Group {
    uint32_t partition = 0;
    uint32_t set = 0;
    LabelId label = kNoName;
    const SnapshotAdjacency* table = nullptr;
    uint32_t begin = 0;
    uint32_t end = 0;
    uint32_t size() const { return end - begin; }
  };

  // Those that do not exist are in no group.
  Status FindById(const SnapshotSet& snapshots, std::span<const EdgeRef> edges);
  // Whose ids are not known: edges[i] is the ranks[i]-th (from 0) of those between its ends.
  Status FindByRank(const SnapshotSet& snapshots, std::span<const EdgeRef> edges,
                    std::span<const uint64_t> ranks);

  std::span<const Group> groups() const { return groups_; }
  // Numbers of edges in the column; ascending in a group.
  std::span<const uint32_t> Inputs(const Group& group) const {
    return std::span(inputs_).subspan(group.begin, group.size());
  }
  std::span<const uint64_t> Positions(const Group& group) const {
    return std::span(positions_).subspan(group.begin, group.size());
  }
  // Edges that were searched for, as neither ids nor hints told.
  uint64_t num_searched() const { return num_searched_; }

  static uint32_t HintOf(uint64_t position) {
    return position < ~uint32_t{0} ? static_cast<uint32_t>(position + 1) : 0;
  }

 private:
  // Edges of one label among those of a group of out vertices.
  struct Asked {
    const SnapshotAdjacency* table = nullptr;
    std::vector<uint32_t> inputs;
    std::vector<uint64_t> rows;
    std::vector<uint64_t> found;  // kNoPosition: not yet
    bool is_found = false;        // all that there are
  };

  template <typename Find>
  Status Run(const SnapshotSet& snapshots, std::span<const EdgeRef> edges, const Find& find);
  // Edges of one label that has one table in each of their partitions: when ids tell where edges
  // are nobody needs to know where their vertices are. False: it is not so.
  StatusOr<bool> FindInOnlyTables(const SnapshotSet& snapshots, std::span<const EdgeRef> edges);
  Status TryIds(std::span<const EdgeRef> edges);
  Status TryHints(std::span<const EdgeRef> edges);
  // Calls search(list, first, input) -> StatusOr<position> for those not yet found; from `first` on
  // the list has neighbours that are not before the edge's in vertex.
  template <typename Search>
  Status SearchOthers(std::span<const EdgeRef> edges, const Search& search);

  PlacedRows placed_;
  std::vector<VertexRef> vertices_;
  std::vector<LabelId> labels_;
  Asked asked_;
  std::vector<uint32_t> others_;
  std::vector<uint64_t> hinted_, ids_, rows_, firsts_;
  std::vector<uint32_t> starts_, ordered_;
  std::vector<VertexRef> ins_;
  std::vector<ListSlice> lists_;
  std::vector<Group> groups_;
  std::vector<uint32_t> inputs_;
  std::vector<uint64_t> positions_;
  uint64_t num_searched_ = 0;
};

}  // namespace koios::storage
