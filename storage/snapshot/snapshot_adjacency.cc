#include "storage/snapshot/snapshot_adjacency.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "storage/snapshot/adjacency_writer.h"

namespace koios::storage {

StatusOr<std::unique_ptr<SnapshotAdjacency>> SnapshotAdjacency::Make(
    const SectionName& name, const MappedSection& facts, const AdjacencySections& sections,
    const NarrowRefs& refs) {
  RETURN_IF_ERROR(facts.TouchAll());
  AdjacencyFacts copy;
  if (facts.rows() != sizeof(copy)) return facts.file().NoteDamage();
  std::memcpy(&copy, facts.bytes().data(), sizeof(copy));
  if (sections.neighbours == nullptr) return facts.file().NoteDamage();
  std::unique_ptr<SnapshotAdjacency> adjacency(new SnapshotAdjacency(name, copy, sections, refs));
  RETURN_IF_ERROR(adjacency->CheckSections());
  return adjacency;
}

Status SnapshotAdjacency::CheckSections() const {
  const auto& s = sections_;
  const uint64_t lists = s.presence != nullptr ? facts_.rows_with_any : facts_.rows;
  const auto has = [](const MappedSection* section, uint64_t rows) {
    return section == nullptr || section->rows() == rows;
  };
  const bool whole = s.neighbours->rows() == facts_.edges && has(s.presence, facts_.rows) &&
                     (s.presence == nullptr) == (s.ranks == nullptr) &&
                     has(s.ranks, facts_.rows / kRowsPerRank + 1) && has(s.offsets, lists + 1) &&
                     (s.offsets != nullptr || lists == facts_.edges) &&
                     (s.edge_ids == nullptr || s.edge_ids->width() == sizeof(EdgeIdRun) ||
                      s.edge_ids->rows() == facts_.edges) &&
                     has(s.out_positions, facts_.edges);
  return whole ? OkStatus() : file().NoteDamage();
}

Status SnapshotAdjacency::ListOfPresent(uint64_t list, ListSlice* out) const {
  if (sections_.offsets == nullptr) {
    *out = {list, 1};
  } else {
    RETURN_IF_ERROR(sections_.offsets->Touch(list, 2));
    const uint64_t begin = NumberAt(*sections_.offsets, list);
    const uint64_t end = NumberAt(*sections_.offsets, list + 1);
    if (begin > end) return file().NoteDamage();
    *out = {begin, end - begin};
  }
  return out->begin + out->count <= facts_.edges ? OkStatus() : file().NoteDamage();
}

Status SnapshotAdjacency::ListOf(uint64_t row, ListSlice* out) const {
  DCHECK(row < facts_.rows);
  if (sections_.presence == nullptr) return ListOfPresent(row, out);
  const uint64_t first = row / kRowsPerRank * kRowsPerRank;
  RETURN_IF_ERROR(sections_.presence->Touch(first, row + 1 - first));
  *out = {};
  if (!BitAt(*sections_.presence, row)) return OkStatus();
  RETURN_IF_ERROR(sections_.ranks->Touch(row / kRowsPerRank, 1));
  uint64_t list = NumberAt(*sections_.ranks, row / kRowsPerRank);
  const uint64_t* const words = sections_.presence->As<uint64_t>();
  for (uint64_t word = first / 64; word < row / 64; ++word) {
    list += static_cast<uint64_t>(std::popcount(words[word]));
  }
  const uint64_t below = (uint64_t{1} << (row % 64)) - 1;
  list += static_cast<uint64_t>(std::popcount(words[row / 64] & below));
  if (list >= facts_.rows_with_any) return file().NoteDamage();
  return ListOfPresent(list, out);
}

Status SnapshotAdjacency::Lists(std::span<const uint64_t> rows, ListSlice* out) const {
  const MappedSection* const offsets = sections_.offsets;
  const MappedSection& neighbours = *sections_.neighbours;
  // The common case in a plain loop: all is checked, offsets of 4 bytes.
  if (sections_.presence == nullptr && offsets != nullptr && offsets->width() == 4 &&
      offsets->checked() && neighbours.checked()) {
    const uint32_t* const begins = offsets->As<uint32_t>();
    uint64_t wrong = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      DCHECK(rows[i] < facts_.rows);
      const uint32_t begin = begins[rows[i]], end = begins[rows[i] + 1];
      wrong |= static_cast<uint64_t>(begin > end) | static_cast<uint64_t>(end > facts_.edges);
      out[i] = {begin, end - begin};
    }
    return wrong == 0 ? file().Damage() : file().NoteDamage();
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    RETURN_IF_ERROR(ListOf(rows[i], &out[i]));
    RETURN_IF_ERROR(neighbours.Touch(out[i].begin, out[i].count));
  }
  return file().Damage();
}

Status SnapshotAdjacency::Degrees(std::span<const uint64_t> rows, uint64_t* out) const {
  ListSlice list;
  for (size_t i = 0; i < rows.size(); ++i) {
    RETURN_IF_ERROR(ListOf(rows[i], &list));
    out[i] = list.count;
  }
  return file().Damage();
}

Status SnapshotAdjacency::EdgeIds(std::span<const uint64_t> positions, uint64_t* out) const {
  const MappedSection* const ids = sections_.edge_ids;
  if (ids == nullptr) return file().NoteDamage();
  if (ids->width() == sizeof(EdgeIdRun)) {
    RETURN_IF_ERROR(ids->TouchAll());
    const std::span<const EdgeIdRun> runs(ids->As<EdgeIdRun>(), ids->rows());
    for (size_t i = 0; i < positions.size(); ++i) {
      const auto after = std::upper_bound(
          runs.begin(), runs.end(), positions[i],
          [](uint64_t position, const EdgeIdRun& run) { return position < run.first_position; });
      if (after == runs.begin()) return file().NoteDamage();
      const EdgeIdRun& run = *(after - 1);
      out[i] = run.first_id + (positions[i] - run.first_position);
    }
    return file().Damage();
  }
  for (size_t i = 0; i < positions.size(); ++i) {
    RETURN_IF_ERROR(ids->Touch(positions[i], 1));
    out[i] = facts_.first_edge_id + NumberAt(*ids, positions[i]);
  }
  return file().Damage();
}

Status SnapshotAdjacency::Find(std::span<const EdgeProbe> probes, uint64_t* out) const {
  for (size_t i = 0; i < probes.size(); ++i) {
    const EdgeProbe& probe = probes[i];
    out[i] = kNoPosition;
    if (probe.row >= facts_.rows) continue;
    ListSlice list;
    RETURN_IF_ERROR(Lists({&probe.row, 1}, &list));
    uint64_t low = list.begin, high = list.begin + list.count;
    const uint64_t end = high;
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (NeighbourAt(middle) < probe.neighbour) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (probe.nth < end - low && NeighbourAt(low + probe.nth) == probe.neighbour) {
      out[i] = low + probe.nth;
    }
  }
  return file().Damage();
}

uint64_t SnapshotAdjacency::NthOf(const ListSlice& list, uint64_t position) const {
  const VertexRef neighbour = NeighbourAt(position);
  uint64_t first = position;
  while (first > list.begin && NeighbourAt(first - 1) == neighbour) --first;
  return position - first;
}

bool SnapshotAdjacency::HasOutPositions(uint32_t partition, uint64_t number) const {
  const MappedSection* const peers = sections_.peers;
  return sections_.out_positions != nullptr && peers != nullptr && partition < peers->rows() &&
         peers->TouchAll().ok() && number != 0 && NumberAt(*peers, partition) == number;
}

Status SnapshotAdjacency::OutPositions(std::span<const uint64_t> positions, uint64_t* out) const {
  for (size_t i = 0; i < positions.size(); ++i) {
    RETURN_IF_ERROR(sections_.out_positions->Touch(positions[i], 1));
    out[i] = NumberAt(*sections_.out_positions, positions[i]);
  }
  return file().Damage();
}

}  // namespace koios::storage
