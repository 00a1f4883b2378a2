#include "storage/view/edge_places.h"

#include <algorithm>

namespace koios::storage {
namespace {

// Of the edges in a list that lead to a neighbour, by the one label, that with the id; parallel
// ones ascend by it. kNoPosition: there is none.
StatusOr<uint64_t> PositionOf(const SnapshotAdjacency& table, const ListSlice& list, uint64_t first,
                              const EdgeRef& edge) {
  uint64_t begin = first;
  uint64_t end = begin + table.CountFrom(list, begin, edge.in);
  while (begin < end) {
    const uint64_t middle = begin + (end - begin) / 2;
    uint64_t id = 0;
    RETURN_IF_ERROR(table.EdgeIdsFrom(middle, 1, &id));
    if (id == edge.id) return middle;
    if (id < edge.id) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return kNoPosition;
}

// The table of out-edges by the label in the partition; null: there is none. `*several`: of them.
const SnapshotAdjacency* OnlyTableOf(const SnapshotSet& snapshots, uint32_t partition,
                                     LabelId label, bool* several) {
  const SnapshotAdjacency* only = nullptr;
  const auto sets = static_cast<uint32_t>(snapshots.Of(partition).label_sets().size());
  for (uint32_t set = 0; set < sets; ++set) {
    for (const LabelledAdjacency& one : snapshots.Adjacencies(partition, set, Direction::kOut)) {
      if (one.label != label) continue;
      *several = *several || only != nullptr;
      only = one.adjacency;
    }
  }
  return only;
}

}  // namespace

// Where ids tell those that they do not find are not there.
Status EdgePlaces::TryIds(std::span<const EdgeRef> edges) {
  ids_.clear();
  for (const uint32_t input : asked_.inputs) ids_.push_back(edges[input].id);
  ASSIGN_OR_RETURN(asked_.is_found, asked_.table->FindByIds(ids_, asked_.found.data()));
  return OkStatus();
}

Status EdgePlaces::TryHints(std::span<const EdgeRef> edges) {
  others_.clear();
  hinted_.clear();
  for (uint32_t i = 0; i < asked_.inputs.size(); ++i) {
    const uint32_t hint = edges[asked_.inputs[i]].place_hint;
    if (hint == 0 || hint > asked_.table->num_positions()) continue;
    others_.push_back(i);
    hinted_.push_back(hint - 1);
  }
  if (hinted_.empty()) return OkStatus();
  ids_.resize(hinted_.size());
  RETURN_IF_ERROR(asked_.table->EdgeIds(hinted_, ids_.data()));
  for (size_t i = 0; i < hinted_.size(); ++i) {
    const uint32_t at = others_[i];
    if (ids_[i] == edges[asked_.inputs[at]].id) asked_.found[at] = hinted_[i];
  }
  return OkStatus();
}

template <typename Search>
Status EdgePlaces::SearchOthers(std::span<const EdgeRef> edges, const Search& search) {
  others_.clear();
  rows_.clear();
  ins_.clear();
  for (uint32_t i = 0; i < asked_.inputs.size(); ++i) {
    if (asked_.found[i] != kNoPosition) continue;
    others_.push_back(i);
    rows_.push_back(asked_.rows[i]);
    ins_.push_back(edges[asked_.inputs[i]].in);
  }
  if (rows_.empty()) return OkStatus();
  num_searched_ += rows_.size();
  lists_.resize(rows_.size());
  RETURN_IF_ERROR(asked_.table->Lists(rows_, lists_.data()));
  firsts_.resize(rows_.size());
  asked_.table->FirstsNotBefore(lists_, ins_, firsts_.data());
  for (size_t i = 0; i < others_.size(); ++i) {
    ASSIGN_OR_RETURN(asked_.found[others_[i]],
                     search(lists_[i], firsts_[i], asked_.inputs[others_[i]]));
  }
  return OkStatus();
}

template <typename Find>
Status EdgePlaces::Run(const SnapshotSet& snapshots, std::span<const EdgeRef> edges,
                       const Find& find) {
  vertices_.clear();
  for (const EdgeRef& edge : edges) vertices_.push_back(edge.out);
  RETURN_IF_ERROR(placed_.Locate(snapshots, vertices_));
  groups_.clear();
  inputs_.clear();
  positions_.clear();
  num_searched_ = 0;
  for (const PlacedRows::Group& of_vertices : placed_.groups()) {
    const std::span<const uint32_t> inputs = placed_.Inputs(of_vertices);
    const std::span<const uint64_t> rows = placed_.Rows(of_vertices);
    labels_.clear();  // nearly always one
    for (const uint32_t input : inputs) {
      const LabelId label = edges[input].label;
      if (!labels_.empty() && labels_.back() == label) continue;
      if (std::find(labels_.begin(), labels_.end(), label) == labels_.end()) {
        labels_.push_back(label);
      }
    }
    for (const LabelId label : labels_) {
      asked_.table =
          snapshots.FindAdjacency(of_vertices.partition, of_vertices.set, Direction::kOut, label);
      if (asked_.table == nullptr) continue;
      asked_.inputs.clear();
      asked_.rows.clear();
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (edges[inputs[i]].label != label) continue;
        asked_.inputs.push_back(inputs[i]);
        asked_.rows.push_back(rows[i]);
      }
      asked_.found.assign(asked_.inputs.size(), kNoPosition);
      RETURN_IF_ERROR(find());
      Group group{of_vertices.partition,
                  of_vertices.set,
                  label,
                  asked_.table,
                  static_cast<uint32_t>(inputs_.size()),
                  0};
      for (size_t i = 0; i < asked_.inputs.size(); ++i) {
        if (asked_.found[i] == kNoPosition) continue;
        inputs_.push_back(asked_.inputs[i]);
        positions_.push_back(asked_.found[i]);
      }
      group.end = static_cast<uint32_t>(inputs_.size());
      if (group.size() > 0) groups_.push_back(group);
    }
    RETURN_IF_ERROR(snapshots.Of(of_vertices.partition).Damage());
  }
  return OkStatus();
}

StatusOr<bool> EdgePlaces::FindInOnlyTables(const SnapshotSet& snapshots,
                                            std::span<const EdgeRef> edges) {
  groups_.clear();
  inputs_.clear();
  positions_.clear();
  num_searched_ = 0;
  const uint32_t num_partitions = snapshots.num_partitions();
  starts_.assign(num_partitions + 1, 0);
  for (const EdgeRef& edge : edges) {
    const uint32_t partition = edge.out.partition();
    if (edge.label != edges[0].label || partition >= num_partitions) return false;
    ++starts_[partition + 1];
  }
  for (uint32_t p = 0; p < num_partitions; ++p) starts_[p + 1] += starts_[p];
  ordered_.resize(edges.size());
  ids_.resize(edges.size());
  for (uint32_t i = 0; i < edges.size(); ++i) {
    const uint32_t at = starts_[edges[i].out.partition()]++;
    ordered_[at] = i;
    ids_[at] = edges[i].id;
  }
  asked_.found.resize(edges.size());
  uint32_t begin = 0;
  for (uint32_t p = 0; p < num_partitions; begin = starts_[p++]) {
    const uint32_t end = starts_[p];  // by now where the next one begins
    if (begin == end) continue;
    bool several = false;
    const SnapshotAdjacency* const table = OnlyTableOf(snapshots, p, edges[0].label, &several);
    if (several) return false;
    if (table == nullptr) continue;
    const std::span<const uint64_t> ids = std::span(ids_).subspan(begin, end - begin);
    ASSIGN_OR_RETURN(const bool told, table->FindByIds(ids, asked_.found.data() + begin));
    if (!told) return false;
    Group group{p, table->name().set, edges[0].label, table, static_cast<uint32_t>(inputs_.size()),
                0};
    for (uint32_t at = begin; at < end; ++at) {
      if (asked_.found[at] == kNoPosition) continue;
      inputs_.push_back(ordered_[at]);
      positions_.push_back(asked_.found[at]);
    }
    group.end = static_cast<uint32_t>(inputs_.size());
    if (group.size() > 0) groups_.push_back(group);
  }
  return true;
}

Status EdgePlaces::FindById(const SnapshotSet& snapshots, std::span<const EdgeRef> edges) {
  ASSIGN_OR_RETURN(const bool told, FindInOnlyTables(snapshots, edges));
  if (told) return OkStatus();
  return Run(snapshots, edges, [&]() -> Status {
    RETURN_IF_ERROR(TryIds(edges));
    if (asked_.is_found) return OkStatus();
    RETURN_IF_ERROR(TryHints(edges));
    return SearchOthers(edges, [&](const ListSlice& list, uint64_t first, uint32_t input) {
      return PositionOf(*asked_.table, list, first, edges[input]);
    });
  });
}

Status EdgePlaces::FindByRank(const SnapshotSet& snapshots, std::span<const EdgeRef> edges,
                              std::span<const uint64_t> ranks) {
  return Run(snapshots, edges, [&] {
    const auto search = [&](const ListSlice& list, uint64_t first,
                            uint32_t input) -> StatusOr<uint64_t> {
      const VertexRef in = edges[input].in;
      const bool found = ranks[input] < list.begin + list.count - first &&
                         asked_.table->NeighbourAt(first + ranks[input]) == in;
      return found ? first + ranks[input] : kNoPosition;
    };
    return SearchOthers(edges, search);
  });
}

}  // namespace koios::storage
