#include "storage/view/placed_rows.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace koios::storage {
namespace {

constexpr size_t kTablesPerVertex = 4;

}  // namespace

bool IsStretch(std::span<const VertexRef> vertices) {
  if (vertices.empty()) return false;
  const uint64_t first = vertices.front().bits;
  const uint64_t more = vertices.size() - 1;
  if (vertices.back().bits - first != more ||
      vertices.back().partition() != vertices.front().partition()) {
    return false;
  }
  uint64_t differences = 0;
  for (size_t i = 0; i < vertices.size(); ++i) differences |= vertices[i].bits ^ (first + i);
  return differences == 0;
}

// They are rows of one table that follow each other. False: they must be found one by one.
StatusOr<bool> PlacedRows::LocateStretch(const SnapshotSet& snapshots,
                                         std::span<const VertexRef> vertices) {
  if (!IsStretch(vertices) || vertices.front().partition() >= snapshots.num_partitions()) {
    return false;
  }
  const uint32_t partition = vertices.front().partition();
  std::optional<VertexPlaces> places = snapshots.Of(partition).Places();
  if (!places.has_value()) return false;
  const std::optional<VertexPlace> first =
      places->OfStretch(vertices.front().local(), vertices.size());
  if (!first.has_value()) return false;
  inputs_.resize(vertices.size());
  rows_.resize(vertices.size());
  std::iota(inputs_.begin(), inputs_.end(), 0);
  std::iota(rows_.begin(), rows_.end(), first->row);
  groups_.push_back({partition, first->set, 0, static_cast<uint32_t>(vertices.size())});
  RETURN_IF_ERROR(snapshots.Of(partition).Damage());
  return true;
}

Status PlacedRows::Locate(const SnapshotSet& snapshots, std::span<const VertexRef> vertices) {
  inputs_.clear();
  rows_.clear();
  groups_.clear();
  ASSIGN_OR_RETURN(const bool is_stretch, LocateStretch(snapshots, vertices));
  if (is_stretch) return OkStatus();
  const VertexRuns& runs = snapshots.vertex_runs();
  // A pass over the tables is worth it when there are few of them for each vertex.
  const bool in_runs = runs.whole() && runs.tables().size() <= kTablesPerVertex * vertices.size();
  return in_runs ? LocateInRuns(snapshots, vertices) : LocateByPartition(snapshots, vertices);
}

// Each vertex is counted in its table, then put there.
Status PlacedRows::LocateInRuns(const SnapshotSet& snapshots, std::span<const VertexRef> vertices) {
  const std::span<const VertexRuns::Table> tables = snapshots.vertex_runs().tables();
  VertexRuns::Reader reader(snapshots.vertex_runs(), &lasts_);
  runs_.resize(vertices.size());
  starts_.assign(tables.size() + 1, 0);
  for (size_t i = 0; i < vertices.size(); ++i) {
    runs_[i] = reader.Of(vertices[i]);
    if (runs_[i] != nullptr) ++starts_[runs_[i]->table + 1];
  }
  for (size_t table = 0; table < tables.size(); ++table) {
    starts_[table + 1] += starts_[table];
    if (starts_[table + 1] == starts_[table]) continue;
    const VertexRuns::Table& of = tables[table];
    RETURN_IF_ERROR(snapshots.Of(of.partition).Damage());
    groups_.push_back({of.partition, of.set, starts_[table], starts_[table + 1]});
  }
  inputs_.resize(starts_[tables.size()]);
  rows_.resize(starts_[tables.size()]);
  for (uint32_t i = 0; i < vertices.size(); ++i) {
    const VertexRuns::Run* const run = runs_[i];
    if (run == nullptr) continue;
    const uint32_t at = starts_[run->table]++;
    inputs_[at] = i;
    rows_[at] = run->RowOf(vertices[i]);
  }
  return OkStatus();
}

Status PlacedRows::LocateByPartition(const SnapshotSet& snapshots,
                                     std::span<const VertexRef> vertices) {
  const uint32_t num_partitions = snapshots.num_partitions();
  starts_.assign(num_partitions + 2, 0);
  // What is of no partition sorts behind all.
  const auto partition_of = [num_partitions](VertexRef vertex) {
    return std::min(vertex.partition(), num_partitions);
  };
  for (const VertexRef vertex : vertices) ++starts_[partition_of(vertex) + 1];
  for (size_t p = 1; p < starts_.size(); ++p) starts_[p] += starts_[p - 1];
  order_.resize(vertices.size());
  locals_.resize(vertices.size());
  if (places_.size() < vertices.size()) places_.resize(vertices.size());
  for (uint32_t i = 0; i < vertices.size(); ++i) {
    const uint32_t at = starts_[partition_of(vertices[i])]++;
    order_[at] = i;
    locals_[at] = vertices[i].local();
  }
  inputs_.reserve(vertices.size());
  rows_.reserve(vertices.size());
  size_t begin = 0;
  for (uint32_t p = 0; p < num_partitions; ++p) {
    const size_t end = starts_[p];  // by now where the next one begins
    if (begin < end) {
      RETURN_IF_ERROR(snapshots.Of(p).Locate(std::span(locals_).subspan(begin, end - begin),
                                             places_.data() + begin));
      AddGroups(p, begin, end);
    }
    begin = end;
  }
  return OkStatus();
}

// Nearly always the vertices of a column are of one label; else each further pass takes the next
// label set.
void PlacedRows::AddGroups(uint32_t partition, size_t begin, size_t end) {
  const uint32_t first_set = places_[begin].set;
  if (first_set != kNoSet &&
      std::all_of(places_.begin() + static_cast<std::ptrdiff_t>(begin),
                  places_.begin() + static_cast<std::ptrdiff_t>(end),
                  [first_set](const VertexPlace& place) { return place.set == first_set; })) {
    const auto first = static_cast<uint32_t>(rows_.size());
    inputs_.insert(inputs_.end(), order_.begin() + static_cast<std::ptrdiff_t>(begin),
                   order_.begin() + static_cast<std::ptrdiff_t>(end));
    for (size_t at = begin; at < end; ++at) rows_.push_back(places_[at].row);
    groups_.push_back({partition, first_set, first, static_cast<uint32_t>(rows_.size())});
    return;
  }
  for (uint64_t next = 0; next < kNoSet;) {
    const auto set = static_cast<uint32_t>(next);
    next = kNoSet;
    Group group{partition, set, static_cast<uint32_t>(rows_.size()), 0};
    for (size_t at = begin; at < end; ++at) {
      const VertexPlace& place = places_[at];
      if (place.set == set) {
        inputs_.push_back(order_[at]);
        rows_.push_back(place.row);
      } else if (place.set > set) {
        next = std::min<uint64_t>(next, place.set);
      }
    }
    group.end = static_cast<uint32_t>(rows_.size());
    if (group.size() > 0) groups_.push_back(group);
  }
}

}  // namespace koios::storage
